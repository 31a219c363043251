package mapping

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// LabelUnconfined marks, in a view, a selector of namespaces that is not confined to it: the last requirement is
// {key: LabelUnconfined, operator: DoesNotExist}. No namespace has this label.
const LabelUnconfined = "view.hnc.x-k8s.io/unconfined"

// selectorNode is a selector of namespaces. In a view, "all namespaces" are those of the view: a selector that does not
// name the namespaces gets a last requirement in the cluster, the tree label of the root. A selector that comes from
// outside and has none is shown with a mark, so that what is read can be written back.
var selectorNode = &node{selector: true, fields: map[string]*node{
	"matchLabels": {pairs: pairsOf(map[string]*node{labelName: nameNode}, func(t *translation, key, value string) (string, string, bool) {
		return t.treeKey(key), value, true
	})},
	"matchExpressions": {items: &node{
		fields:   map[string]*node{"key": treeKeyNode, "values": namesNode},
		deciding: []string{"key"}, dependent: []string{"values"},
		with: func(value func(string) string) *node {
			if value("key") == labelName {
				return &node{fields: map[string]*node{"values": namesNode}}
			}
			return &node{fields: map[string]*node{"key": treeKeyNode}}
		},
	}},
}}

// requirement is what matters of an element of matchExpressions.
type requirement struct {
	key, operator string
	values        int
}

// mark is the requirement with LabelUnconfined.
var mark = requirement{key: LabelUnconfined, operator: string(metav1.LabelSelectorOpDoesNotExist)}

func (t *translation) confinement() requirement {
	return requirement{key: hnc.TreeLabel(t.names.root), operator: string(metav1.LabelSelectorOpExists)}
}

// requirements are what matters of those of a selector. They are not collected, because one can be much smaller than what
// it would need in memory.
type requirements struct {
	length       int
	last, before requirement // the one before the last
	// pinned is whether the selector names namespaces, and confinements the requirements that confine it to the view.
	pinned       bool
	confinements int
}

// add adds the next requirement, before its translation.
func (t *translation) add(to *requirements, r requirement) {
	to.length, to.before, to.last = to.length+1, to.last, r
	key, confinement := r.key, t.confinement()
	if t.to == In {
		key = t.treeKey(key)
	}
	if key == confinement.key && r.operator == confinement.operator && r.values == 0 {
		to.confinements++
	}
	to.pinned = to.pinned || r.key == labelName && r.operator == string(metav1.LabelSelectorOpIn)
}

// confine returns whether the last requirement of a selector is left out, and the requirement that is added.
func (t *translation) confine(r requirements) (drop bool, add requirement) {
	marked := r.last == mark
	if t.to == In {
		switch {
		case marked:
			return true, requirement{}
		case r.pinned || r.confinements > 0:
			return false, requirement{}
		}
		return false, t.confinement()
	}
	switch {
	case marked:
		return false, mark
	case r.confinements == 1 && !r.pinned && r.last == t.confinement() && r.before != mark:
		return true, requirement{}
	case r.pinned || r.confinements > 0:
		return false, requirement{}
	}
	return false, mark
}

// selector appends a translated selector of namespaces.
func (t *translation) selector(out, raw []byte, n *node, at *path) ([]byte, error) {
	if err := t.checkMembers(raw, n, at); err != nil {
		return nil, err
	}
	var known requirements
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, apiError(at, err)
		}
		switch m.name {
		case "matchLabels":
			named := false
			for label, err := range membersOf(m.value) {
				if err == nil && label.name == labelName {
					named = string(label.value) != "null" // with which a patch removes it
				}
			}
			known.pinned = known.pinned || named
		case "matchExpressions":
			err = eachElement(m.value, func(start, end int) error {
				fields := m.value[start:end]
				r := requirement{key: TextOf(fields, "key"), operator: TextOf(fields, "operator")}
				if err := eachElement(MemberOf(fields, "values"), func(int, int) error { r.values++; return nil }); err != nil {
					return err
				}
				t.add(&known, r)
				return nil
			})
			if err != nil {
				return nil, apiError(at, err)
			}
		}
	}
	drop, add := t.confine(known)
	switch {
	case drop:
		return t.withExpressions(out, raw, known.length-1, nil, n, at)
	case add.key != "":
		element := append(appendQuoted([]byte(`{"key":`), add.key), `,"operator":"`+add.operator+`"}`...)
		return t.withExpressions(out, raw, known.length, element, n, at)
	}
	return t.members(out, raw, n, at)
}

// withExpressions appends a selector with so many of its elements of matchExpressions, and one more, unless that is nil.
func (t *translation) withExpressions(out, raw []byte, count int, more []byte, n *node, at *path) ([]byte, error) {
	separator := byte('{')
	var expressions []byte
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, apiError(at, err)
		}
		if m.name == "matchExpressions" {
			expressions = m.value
			continue
		}
		out = append(append(append(out, separator), m.key...), ':')
		if out, err = t.value(out, m.value, n.fields[m.name], at.key(m.name)); err != nil {
			return nil, err
		}
		separator = ','
	}
	if count == 0 && more == nil {
		if separator == '{' {
			out = append(out, separator)
		}
		return append(out, '}'), nil
	}
	out = append(append(out, separator), `"matchExpressions":`...)
	separator = '['
	index := 0
	err := eachElement(expressions, func(start, end int) (err error) {
		if index < count {
			out, err = t.value(append(out, separator), expressions[start:end], n.fields["matchExpressions"].items, at.key("matchExpressions").at(index))
			separator = ','
		}
		index++
		return err
	})
	if err != nil {
		return nil, apiError(at, err)
	}
	if more != nil {
		out = append(append(out, separator), more...)
	}
	out = append(out, "]}"...)
	return out, t.fits(len(out))
}

// selectorText translates the text of a label selector of namespaces, such as "a=b,kubernetes.io/metadata.name in (c)".
// Only names change, so spaces and the order stay.
func (t *translation) selectorText(s string) string {
	return t.selectorTextWith(s, t.treeKey, func(key, value string) string {
		if key == labelName {
			return t.name(value)
		}
		return value
	})
}

func (t *translation) selectorTextWith(s string, key func(string) string, value func(key, value string) string) string {
	const special = ",()=!<> \t\r\n"
	var b strings.Builder
	b.Grow(len(s))
	current, depth, operator := "", 0, false
	for len(s) > 0 && !t.full(b.Len()) {
		end := strings.IndexAny(s, special)
		if end == 0 {
			switch s[0] {
			case ',':
				if depth == 0 {
					current, operator = "", false
				}
			case '(':
				depth++
			case ')':
				depth--
			case '=':
				operator = true
			}
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if end < 0 {
			end = len(s)
		}
		word := s[:end]
		s = s[end:]
		switch {
		case current == "":
			current = word
			b.WriteString(key(word))
		case depth > 0 || operator:
			b.WriteString(value(current, word))
		default: // "in" and "notin"
			b.WriteString(word)
		}
	}
	return b.String()
}
