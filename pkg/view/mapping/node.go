package mapping

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// node says what to translate in a value, in JSON and in protobuf. A nil node leaves a value as it is.
type node struct {
	// text translates a string.
	text func(*translation, string) string
	// pairs translates a map of strings.
	pairs *pairs
	// fields are the members of an object, items the elements of a list.
	fields map[string]*node
	items  *node
	// wire are the fields of a message in protobuf.
	wire map[protowire.Number]wireField
	// deciding are the fields of an object that decide what others mean; with returns the node for their values.
	// The others are in dependent.
	deciding, dependent []string
	with                func(value func(field string) string) *node
	// selector is set for selectors of namespaces, which are confined to the view.
	selector bool
	// absent is set for a member of an object that the view does not have.
	absent bool
	// managed is set for the fields in managedFields, a tree of the fields of the kind.
	managed bool
}

// wireField is a field of a message.
type wireField struct {
	name     string
	repeated bool
	node     *node
}

// pairs translates a key and a value of a map; keep is false if the view does not have it.
type pairs struct {
	translate func(t *translation, key, value string) (newKey, newValue string, keep bool)
	// values are the keys whose values are translated.
	values map[string]*node
}

// pairsOf returns the rules for a map whose values at some keys are translated, and more with extra.
func pairsOf(values map[string]*node, extra func(t *translation, key, value string) (string, string, bool)) *pairs {
	return &pairs{values: values, translate: func(t *translation, key, value string) (string, string, bool) {
		if n := values[key]; n != nil {
			value = n.text(t, value)
		}
		if extra != nil {
			return extra(t, key, value)
		}
		return key, value, true
	}}
}

// object returns the node to use for an object with these values of its deciding fields.
func (n *node) object(value func(string) string) *node {
	if n.with == nil {
		return n
	}
	return n.with(value)
}

func (n *node) isDeciding(field string) bool  { return slices.Contains(n.deciding, field) }
func (n *node) isDependent(field string) bool { return slices.Contains(n.dependent, field) }
