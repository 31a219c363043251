package mapping

import "strings"

// message translates the names in a text for people: names of users of ServiceAccounts, and what is quoted after the
// word namespace or is the name of a member. Text is only translated on the way out.
func (t *translation) message(s string) string { return t.messageAbout(s, "", "") }

// messageAbout is message for a text about an object: its name stays, even if a namespace has the same one; or about a
// namespace, whose name is translated even if it is no member, such as one that cannot be created.
func (t *translation) messageAbout(s, object, namespace string) string {
	if t.to == In {
		return s
	}
	var b strings.Builder
	for {
		start := strings.IndexByte(s, '"')
		if start < 0 {
			break
		}
		end := strings.IndexByte(s[start+1:], '"')
		if end < 0 {
			break
		}
		end += start + 1
		before, word := s[:start], s[start+1:end]
		b.WriteString(before)
		b.WriteByte('"')
		b.WriteString(t.quoted(before, word, object, namespace))
		b.WriteByte('"')
		s = s[end+1:]
	}
	b.WriteString(s)
	return t.groups.text(b.String())
}

func (t *translation) quoted(before, word, object, namespace string) string {
	if user := t.user(word); user != word {
		return user
	}
	context := strings.TrimRight(before, " :")
	afterNamespace := strings.HasSuffix(context, "namespace") || strings.HasSuffix(context, "namespaces")
	if afterNamespace || word == namespace && word != "" || word != object && t.names.Member(word) {
		return t.name(word)
	}
	// RBAC says: allowed by RoleBinding "name/namespace".
	if name, namespace, ok := strings.Cut(word, "/"); ok && strings.HasSuffix(context, "RoleBinding") && !strings.HasSuffix(context, "ClusterRoleBinding") {
		return name + "/" + t.name(namespace)
	}
	return word
}
