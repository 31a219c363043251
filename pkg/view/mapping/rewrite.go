package mapping

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// value appends a translated JSON value to out. Everything that the node does not name is copied.
func (t *translation) value(out, raw []byte, n *node, at *path) ([]byte, error) {
	if n == nil || len(raw) == 0 {
		return append(out, raw...), nil
	}
	switch {
	case raw[0] == '"' && n.text != nil:
		s, err := unquote(raw)
		if err != nil {
			return nil, badRequest(at, "%v", err)
		}
		if translated := n.text(t, s); translated != s {
			return append(out, quote(translated)...), nil
		}
	case raw[0] == '[' && n.items != nil:
		return t.list(out, raw, n.items, at)
	case raw[0] == '{' && n.managed:
		return t.managed(out, raw, n.fields[""], at)
	case raw[0] == '{' && n.pairs != nil:
		return t.pairs(out, raw, n.pairs, at)
	case raw[0] == '{' && n.selector:
		return t.selector(out, raw, n, at)
	case raw[0] == '{' && n.fields != nil:
		return t.object(out, raw, n, at)
	}
	return append(out, raw...), nil
}

func (t *translation) list(out, raw []byte, n *node, at *path) ([]byte, error) {
	last, index := 0, 0
	err := eachElement(raw, func(start, end int) (err error) {
		out = append(out, raw[last:start]...)
		out, err = t.value(out, raw[start:end], n, at.at(index))
		last, index = end, index+1
		return err
	})
	if err != nil {
		return nil, apiError(at, err)
	}
	return append(out, raw[last:]...), nil
}

func (t *translation) object(out, raw []byte, n *node, at *path) ([]byte, error) {
	members, _, err := membersOf(raw)
	if err != nil {
		return nil, apiError(at, err)
	}
	if err := t.checkMembers(members, n, at); err != nil {
		return nil, err
	}
	return t.members(out, raw, members, n, at)
}

// members appends an object whose members are known.
func (t *translation) members(out, raw []byte, members []member, n *node, at *path) ([]byte, error) {
	n = n.object(func(name string) string { return valueOf(members, name) })
	last := 0
	for _, m := range members {
		child := t.field(n, m.name)
		if child == nil {
			continue
		}
		out = append(out, raw[last:m.valueStart]...)
		var err error
		if out, err = t.value(out, m.value, child, at.key(m.name)); err != nil {
			return nil, err
		}
		last = m.valueEnd
	}
	return append(out, raw[last:]...), nil
}

// valueOf returns the text of a member that is a string.
func valueOf(members []member, name string) string {
	for _, m := range members {
		if m.name == name {
			s, _ := stringOf(m.value)
			return s
		}
	}
	return ""
}

// field returns the node of a member of an object. The directives of a strategic merge patch contain parts of the lists
// that they are about.
func (t *translation) field(n *node, name string) *node {
	if t.partial && strings.HasPrefix(name, "$") {
		for _, directive := range []string{"$setElementOrder/", "$deleteFromPrimitiveList/"} {
			name = strings.TrimPrefix(name, directive)
		}
	}
	return n.fields[name]
}

// checkMembers returns an error for objects in requests that could mean something else to another decoder: keys of the
// table that occur twice or in another case. Decoders of Kubernetes disagree about these: the kind of an object is found
// ignoring case, and its fields are not.
func (t *translation) checkMembers(members []member, n *node, at *path) error {
	if t.to == Out {
		return nil
	}
	seen := map[string]bool{}
	for _, m := range members {
		if n.fields[m.name] == nil && !n.isDeciding(m.name) && (at != nil || m.name != "kind" && m.name != "apiVersion") {
			if similar := similarField(n, m.name, at == nil); similar != "" {
				return badRequest(at.key(m.name), "unknown field; write %q", similar)
			}
			continue
		}
		if seen[m.name] {
			return badRequest(at.key(m.name), "duplicate field; set it once")
		}
		seen[m.name] = true
	}
	if !t.partial || len(n.dependent) == 0 || n.dependent[0] != "name" {
		return nil
	}
	decider, dependent := n.deciding[len(n.deciding)-1], n.dependent[0]
	if n.deciding[0] == "kind" {
		decider = "kind"
	}
	if seen[dependent] != seen[decider] {
		return badRequest(at, "a patch must contain both %q and %q, or neither", decider, dependent)
	}
	return nil
}

// similarField returns the field of the node that differs from name in case only.
func similarField(n *node, name string, top bool) string {
	for field := range n.fields {
		if strings.EqualFold(field, name) {
			return field
		}
	}
	for _, field := range n.deciding {
		if strings.EqualFold(field, name) {
			return field
		}
	}
	if top {
		for _, field := range []string{"kind", "apiVersion"} {
			if strings.EqualFold(field, name) {
				return field
			}
		}
	}
	return ""
}

// pairs appends a translated map of strings.
func (t *translation) pairs(out, raw []byte, p *pairs, at *path) ([]byte, error) {
	members, _, err := membersOf(raw)
	if err != nil {
		return nil, apiError(at, err)
	}
	type pair struct{ key, value []byte }
	var kept []pair
	last, dropped, begin := 0, false, len(out)
	for _, m := range members {
		value, isString := stringOf(m.value)
		key, newValue, keep := p.translate(t, m.name, value)
		if !keep {
			dropped = true
			continue
		}
		translated := pair{m.key, m.value}
		if key != m.name {
			translated.key = quote(key)
		}
		if isString && newValue != value {
			translated.value = quote(newValue)
		}
		kept = append(kept, translated)
		out = append(append(out, raw[last:m.keyStart]...), translated.key...)
		out = append(out, raw[m.keyStart+len(m.key):m.valueStart]...)
		out = append(out, translated.value...)
		last = m.valueEnd
	}
	if !dropped {
		return append(out, raw[last:]...), nil
	}
	out = append(out[:begin], '{')
	for i, k := range kept {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, k.key...), ':'), k.value...)
	}
	return append(out, '}'), nil
}

// managed appends translated fields in the format of metadata.managedFields: a tree whose keys are "f:" and a field,
// "k:" and the keys of an element, "v:" and a value, or "i:" and an index.
func (t *translation) managed(out, raw []byte, n *node, at *path) ([]byte, error) {
	members, ok, err := membersOf(raw)
	if err != nil {
		return nil, apiError(at, err)
	}
	if !ok || n == nil {
		return append(out, raw...), nil
	}
	first := true
	out = append(out, '{')
	for _, m := range members {
		kind, rest, _ := strings.Cut(m.name, ":")
		var child *node
		key := m.key
		switch {
		case kind == "f" && n.pairs != nil:
			name, _, keep := n.pairs.translate(t, rest, "")
			if !keep {
				continue
			}
			if name != rest {
				key = quote("f:" + name)
			}
		case kind == "f":
			// The content of managedFields has no managed fields.
			if child = n.fields[rest]; child != nil && child.managed {
				child = nil
			}
		case (kind == "k" || kind == "v") && n.items != nil:
			quiet := *t
			quiet.partial = false
			translated, err := quiet.value(nil, []byte(rest), n.items, at)
			if err != nil {
				return nil, err
			}
			if string(translated) != rest {
				key = quote(kind + ":" + string(translated))
			}
			child = n.items
		case kind == "i":
			child = n.items
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(out, key...), ':')
		if out, err = t.managed(out, m.value, child, at); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// root returns the node of an object, from the kind that it states. What it does not state is that of the request, as in
// kube-apiserver.
func (t *translation) root(members []member, request schema.GroupVersionKind) (schema.GroupVersionKind, error) {
	kind, version := valueOf(members, "kind"), valueOf(members, "apiVersion")
	gv, err := schema.ParseGroupVersion(version)
	if err != nil {
		return schema.GroupVersionKind{}, badRequest(nil, "apiVersion: %v", err)
	}
	stated := gv.WithKind(kind)
	if stated.Kind == "" {
		stated.Kind = request.Kind
	}
	if version == "" {
		stated.Group, stated.Version = request.Group, request.Version
	}
	return stated, nil
}

func apiError(at *path, err error) error {
	if err == errMalformed { //nolint:errorlint // never wrapped
		return badRequest(at, "%v", err)
	}
	return err
}
