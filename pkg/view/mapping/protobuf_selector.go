package mapping

import "google.golang.org/protobuf/encoding/protowire"

// wireSelector returns how a selector of namespaces is confined to the view, as a selector in JSON is: the position of the
// field that is left out, -1 if there is none, and the fields that are added.
func (t *translation) wireSelector(raw []byte, n *node, at *path) (dropped int, added []byte, err error) {
	var known requirements
	position, last := -1, -1
	element := n.fields["matchExpressions"].items
	for f, err := range fieldsOf(raw, at) {
		if err != nil {
			return 0, nil, err
		}
		position++
		switch n.wire[f.number].name {
		case "matchLabels":
			for e, err := range fieldsOf(f.value, at) {
				if err != nil {
					return 0, nil, err
				}
				known.pinned = known.pinned || e.number == entryKey && string(e.value) == labelName
			}
		case "matchExpressions":
			r, err := requirementOf(f.value, element, at.key("matchExpressions"))
			if err != nil {
				return 0, nil, err
			}
			t.add(&known, r)
			last = position
		}
	}
	switch drop, add := t.confine(known); {
	case drop:
		return last, nil, nil
	case add.key != "":
		var message []byte
		for _, f := range [...]struct{ name, value string }{{"key", add.key}, {"operator", add.operator}} {
			message = protowire.AppendString(protowire.AppendTag(message, element.number(f.name), protowire.BytesType), f.value)
		}
		added = protowire.AppendBytes(protowire.AppendTag(nil, n.number("matchExpressions"), protowire.BytesType), message)
	}
	return -1, added, nil
}

// requirementOf returns what matters of an element of matchExpressions.
func requirementOf(message []byte, n *node, at *path) (r requirement, err error) {
	if err := checkWire(message, n, at); err != nil {
		return r, err
	}
	for f, err := range fieldsOf(message, at) {
		if err != nil {
			return r, err
		}
		switch n.wire[f.number].name {
		case "key":
			r.key = string(f.value)
		case "operator":
			r.operator = string(f.value)
		case "values":
			r.values++
		}
	}
	return r, nil
}

// number returns the number of a field of a message, 0 if it has none of this name.
func (n *node) number(name string) protowire.Number {
	for number, f := range n.wire {
		if f.name == name {
			return number
		}
	}
	return 0
}
