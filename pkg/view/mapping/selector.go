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

// confine returns whether the last requirement of a selector is left out, and the requirement that is added. The keys
// are those before the translation.
func (t *translation) confine(pinned bool, requirements []requirement) (drop bool, add requirement) {
	confinement := requirement{key: hnc.TreeLabel(t.names.root), operator: string(metav1.LabelSelectorOpExists)}
	mark := requirement{key: LabelUnconfined, operator: string(metav1.LabelSelectorOpDoesNotExist)}
	confinements := 0
	for _, r := range requirements {
		key := r.key
		if t.to == In {
			key = t.treeKey(key)
		}
		if key == confinement.key && r.operator == confinement.operator && r.values == 0 {
			confinements++
		}
		pinned = pinned || r.key == labelName && r.operator == string(metav1.LabelSelectorOpIn)
	}
	length := len(requirements)
	marked := length > 0 && requirements[length-1] == mark
	if t.to == In {
		switch {
		case marked:
			return true, requirement{}
		case pinned || confinements > 0:
			return false, requirement{}
		}
		return false, confinement
	}
	switch {
	case marked:
		return false, mark
	case confinements == 1 && !pinned && requirements[length-1] == confinement && (length < 2 || requirements[length-2] != mark):
		return true, requirement{}
	case pinned || confinements > 0:
		return false, requirement{}
	}
	return false, mark
}

// selector appends a translated selector of namespaces.
func (t *translation) selector(out, raw []byte, n *node, at *path) ([]byte, error) {
	if err := t.checkMembers(raw, n, at); err != nil {
		return nil, err
	}
	pinned := false
	var requirements []requirement
	var elements [][]byte
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, apiError(at, err)
		}
		switch m.name {
		case "matchLabels":
			pinned = pinned || memberOf(m.value, labelName) != nil
		case "matchExpressions":
			err = eachElement(m.value, func(start, end int) error {
				fields := m.value[start:end]
				r := requirement{key: textOf(fields, "key"), operator: textOf(fields, "operator")}
				if err := eachElement(memberOf(fields, "values"), func(int, int) error { r.values++; return nil }); err != nil {
					return err
				}
				if t.to == In && len(elements) == maxMembers {
					return badRequest(at.key(m.name), "a selector of namespaces may have %d requirements in a view", maxMembers)
				}
				element, err := t.value(nil, fields, n.fields["matchExpressions"].items, at.key(m.name).at(len(elements)))
				requirements, elements = append(requirements, r), append(elements, element)
				return err
			})
			if err != nil {
				return nil, apiError(at, err)
			}
		}
	}
	drop, add := t.confine(pinned, requirements)
	if !drop && add.key == "" {
		return t.members(out, raw, n, at)
	}
	if drop {
		elements = elements[:len(elements)-1]
	} else {
		elements = append(elements, []byte(`{"key":`+string(quote(add.key))+`,"operator":"`+add.operator+`"}`))
	}
	return t.withExpressions(out, raw, elements, n, at)
}

// withExpressions appends a selector with these elements of matchExpressions.
func (t *translation) withExpressions(out, raw []byte, elements [][]byte, n *node, at *path) ([]byte, error) {
	separator := byte('{')
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, apiError(at, err)
		}
		if m.name == "matchExpressions" {
			continue
		}
		out = append(append(append(out, separator), m.key...), ':')
		if out, err = t.value(out, m.value, n.fields[m.name], at.key(m.name)); err != nil {
			return nil, err
		}
		separator = ','
	}
	if len(elements) > 0 {
		out = append(append(out, separator), `"matchExpressions":`...)
		separator = '['
		for _, element := range elements {
			out = append(append(out, separator), element...)
			separator = ','
		}
		return append(out, "]}"...), nil
	}
	if separator == '{' {
		out = append(out, separator)
	}
	return append(out, '}'), nil
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
	current, depth, operator := "", 0, false
	for len(s) > 0 {
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
