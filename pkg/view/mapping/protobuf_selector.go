package mapping

import "google.golang.org/protobuf/encoding/protowire"

// added is the kind of a field that is already translated.
const added protowire.Type = -1

// wireSelector returns the fields of a selector of namespaces, confined to the view as a selector in JSON is.
func (t *translation) wireSelector(fields []wireBytes, n *node, at *path) ([]wireBytes, error) {
	pinned := false
	var requirements []requirement
	last, number := -1, protowire.Number(0)
	for candidate, f := range n.wire {
		if f.name == "matchExpressions" {
			number = candidate
		}
	}
	for i, f := range fields {
		switch n.wire[f.number].name {
		case "matchLabels":
			entry, err := fieldsOf(f.value, at)
			if err != nil {
				return nil, err
			}
			for _, e := range entry {
				pinned = pinned || e.number == entryKey && string(e.value) == labelName
			}
		case "matchExpressions":
			parts, err := fieldsOf(f.value, at)
			if err != nil {
				return nil, err
			}
			element := n.fields["matchExpressions"].items
			if err := checkWire(parts, element, at.key("matchExpressions")); err != nil {
				return nil, err
			}
			var r requirement
			for _, p := range parts {
				switch element.wire[p.number].name {
				case "key":
					r.key = string(p.value)
				case "operator":
					r.operator = string(p.value)
				case "values":
					r.values++
				}
			}
			requirements, last = append(requirements, r), i
		}
	}
	drop, add := t.confine(pinned, requirements)
	switch {
	case drop:
		fields = append(append([]wireBytes{}, fields[:last]...), fields[last+1:]...)
	case add.key != "":
		var message []byte
		for number, f := range n.fields["matchExpressions"].items.wire {
			if f.name == "key" {
				message = append(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), add.key), message...)
			}
			if f.name == "operator" {
				message = protowire.AppendString(protowire.AppendTag(message, number, protowire.BytesType), add.operator)
			}
		}
		raw := protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), message)
		fields = append(fields, wireBytes{number: number, kind: added, raw: raw})
	}
	return fields, nil
}
