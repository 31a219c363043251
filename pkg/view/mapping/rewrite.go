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
		out = appendText(out, raw, s, n.text(t, s))
		return out, t.fits(len(out))
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
	out, err := RewriteList(out, raw, func(out []byte, index int, element []byte) ([]byte, bool, error) {
		out, err := t.value(out, element, n, at.at(index))
		return out, true, err
	})
	if err != nil {
		return nil, apiError(at, err)
	}
	return out, nil
}

func (t *translation) object(out, raw []byte, n *node, at *path) ([]byte, error) {
	if err := t.checkMembers(raw, n, at); err != nil {
		return nil, err
	}
	return t.members(out, raw, n, at)
}

// members appends an object that has been checked.
func (t *translation) members(out, raw []byte, n *node, at *path) ([]byte, error) {
	n = n.object(func(name string) string { return TextOf(raw, name) })
	last, first := 0, true
	end := 1 // of the last member that is kept
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, apiError(at, err)
		}
		child := t.field(n, m.name)
		if child != nil && child.absent {
			out = append(out, raw[last:end]...)
			if last = m.valueEnd; first {
				last = afterComma(raw, last)
			}
			end = last
			continue
		}
		first, end = false, m.valueEnd
		if child == nil {
			continue
		}
		out = append(out, raw[last:m.valueStart]...)
		if out, err = t.value(out, m.value, child, at.key(m.name)); err != nil {
			return nil, err
		}
		last = m.valueEnd
	}
	return append(out, raw[last:]...), nil
}

// afterComma returns the position after the comma at a position, if there is one after white space.
func afterComma(b []byte, at int) int {
	if next := space(b, at); next < len(b) && b[next] == ',' {
		return next + 1
	}
	return at
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
// table that occur twice or in another case. Decoders of Kubernetes disagree about these: the kind of an object is
// found ignoring case, and its fields are not.
func (t *translation) checkMembers(raw []byte, n *node, at *path) error {
	if t.to == Out {
		return nil
	}
	seen := map[string]bool{}
	for m, err := range membersOf(raw) {
		if err != nil {
			return apiError(at, err)
		}
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
	for _, field := range []string{"kind", "apiVersion"} {
		if top && strings.EqualFold(field, name) {
			return field
		}
	}
	return ""
}

// pairs appends a translated map of strings, without what the view does not have.
func (t *translation) pairs(out, raw []byte, p *pairs, at *path) ([]byte, error) {
	separator := ""
	out = append(out, '{')
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, apiError(at, err)
		}
		text, isString := stringOf(m.value)
		key, value, keep := p.translate(t, m.name, text)
		if !keep {
			continue
		}
		if !isString {
			value = text
		}
		out = appendText(append(out, separator...), m.key, m.name, key)
		out = appendText(append(out, ':'), m.value, text, value)
		separator = ","
		if err := t.fits(len(out)); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// managed appends translated fields in the format of metadata.managedFields: a tree whose keys are "f:" and a field,
// "k:" and the keys of an element, "v:" and a value, or "i:" and an index.
func (t *translation) managed(out, raw []byte, n *node, at *path) ([]byte, error) {
	if !isObject(raw) || n == nil {
		return append(out, raw...), nil
	}
	first := true
	out = append(out, '{')
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, apiError(at, err)
		}
		kind, rest, _ := strings.Cut(m.name, ":")
		var child *node
		key := m.name
		switch {
		case kind == "f" && n.pairs != nil:
			name, _, keep := n.pairs.translate(t, rest, "")
			if !keep {
				continue
			}
			key = "f:" + name
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
			key = kind + ":" + string(translated)
			child = n.items
		case kind == "i":
			child = n.items
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(appendText(out, m.key, m.name, key), ':')
		if err := t.fits(len(out)); err != nil {
			return nil, err
		}
		if out, err = t.managed(out, m.value, child, at); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// root returns the kind in the cluster of an object that states this kind and version. What it does not state is that
// of the request, as in kube-apiserver.
func (t *translation) root(kind, version string, request schema.GroupVersionKind) (schema.GroupVersionKind, error) {
	if t.to == In {
		version = t.apiVersion(version)
	}
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

// rootOf returns the kind of an object.
func (t *translation) rootOf(raw []byte, request schema.GroupVersionKind) (schema.GroupVersionKind, error) {
	var kind, version string
	for m, err := range membersOf(raw) {
		if err != nil || kind != "" && version != "" {
			break
		}
		switch m.name {
		case "kind":
			kind, _ = stringOf(m.value)
		case "apiVersion":
			version, _ = stringOf(m.value)
		}
	}
	return t.root(kind, version, request)
}

func apiError(at *path, err error) error {
	if err == errMalformed { //nolint:errorlint // never wrapped
		return badRequest(at, "%v", err)
	}
	return err
}
