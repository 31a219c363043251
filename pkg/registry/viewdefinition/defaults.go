package viewdefinition

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The limits of defaults, which kube-apiserver adds to each object that it reads, so also to those that were stored
// before the defaults. An object has some hundred bytes without them, but an element of a list may have two.
const (
	maxDefaults        = 8 << 10 // bytes in an object
	maxElementDefaults = 256     // bytes in an object below a list or map
	// defaultValue is what a value counts besides its bytes.
	defaultValue = 32
)

// most bounds costs, so that sums of them do not overflow.
const most = 1 << 29

// defaults are those of a schema. Their costs are in bytes.
type defaults struct {
	properties map[string]*defaults
	// items are those of the elements of a list, or of the values of a map.
	items *defaults
	// own is the cost of the default of the schema itself, with what the defaults below add to it; 0 if it has none.
	own int
	// empty is what is added to an empty object, and largest to one whose objects exist, but are empty.
	empty, largest int
}

// defaultsOf returns the defaults of a schema.
func defaultsOf(s *apiextensionsv1.JSONSchemaProps) *defaults {
	d := &defaults{properties: map[string]*defaults{}}
	for name := range s.Properties {
		property := s.Properties[name]
		of := defaultsOf(&property)
		d.properties[name] = of
		d.empty = sum(d.empty, of.added(name))
		d.largest = sum(d.largest, max(of.added(name), of.largest))
	}
	if repeated := repeated(s); repeated != nil {
		d.items = defaultsOf(repeated)
	}
	var value any
	if s.Default != nil && json.Unmarshal(s.Default.Raw, &value) == nil {
		d.own = d.cost(value)
	}
	return d
}

// repeated returns the schema of the elements of a list, or of the values of a map; nil if there is none. Schemas with
// both are rejected.
func repeated(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if of := elements(s); of != nil {
		return of
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}

// added returns what an object gets that does not have a property.
func (d *defaults) added(name string) int {
	if d.own == 0 {
		return 0
	}
	return len(name) + d.own
}

// cost returns the cost of a value with what the defaults add to it. Nothing is added to what has no schema.
func (d *defaults) cost(value any) int {
	n := defaultValue
	switch value := value.(type) {
	case string:
		n += len(value)
	case []any:
		var items *defaults
		if d != nil {
			items = d.items
		}
		for _, item := range value {
			n = sum(n, items.cost(item))
		}
	case map[string]any:
		if d != nil {
			n = sum(n, d.empty)
		}
		for name, member := range value {
			of := d.of(name)
			n = sum(n, len(name)+of.cost(member))
			if d != nil && d.properties[name] != nil {
				n -= of.added(name) // It is there.
			}
		}
	case nil:
		if d != nil { // It may be replaced.
			n = max(n, d.own)
		}
	}
	return n
}

// of returns the defaults of a member of a value, nil if there are none.
func (d *defaults) of(name string) *defaults {
	if d == nil {
		return nil
	}
	if property := d.properties[name]; property != nil {
		return property
	}
	return d.items
}

func sum(a, b int) int { return min(a+b, most) }
