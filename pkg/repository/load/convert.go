package load

import (
	"fmt"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// nodeError is an error at a line of a document.
type nodeError struct {
	code    report.Code
	line    int
	message string
}

// Error implements error.
func (e *nodeError) Error() string { return e.message }

func invalid(n *yaml.Node, format string, args ...any) error {
	return &nodeError{report.UnreadableFile, n.Line, fmt.Sprintf(format, args...)}
}

// converter converts a YAML document to JSON values, as kubectl does. It counts values, and the bytes of texts, with
// aliases expanded.
type converter struct {
	limits *Limits
	values int
	bytes  int64
}

func (c *converter) value(n *yaml.Node, depth int) (any, error) {
	if n.Kind == yaml.DocumentNode {
		if len(n.Content) == 0 {
			return nil, nil
		}
		n = n.Content[0]
	}
	if depth > c.limits.Nesting {
		return nil, &nodeError{report.LimitExceeded, n.Line, fmt.Sprintf("values are nested deeper than %d", c.limits.Nesting)}
	}
	if c.values++; c.values > c.limits.DocumentValues {
		return nil, &nodeError{report.LimitExceeded, n.Line, fmt.Sprintf("the document has more than %d values with its aliases expanded", c.limits.DocumentValues)}
	}
	if c.bytes += int64(len(n.Value)); c.bytes > c.limits.DocumentBytes {
		return nil, &nodeError{report.LimitExceeded, n.Line, fmt.Sprintf("the document is larger than %s with its aliases expanded", size(c.limits.DocumentBytes))}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return c.mapping(n, depth)
	case yaml.SequenceNode:
		items := make([]any, 0, len(n.Content))
		for _, child := range n.Content {
			item, err := c.value(child, depth+1)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return items, nil
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil, nil
}

// mapping rejects duplicate keys, of which YAML parsers keep different ones. Merged keys do not replace existing ones.
func (c *converter) mapping(n *yaml.Node, depth int) (any, error) {
	result := make(map[string]any, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, child := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			merged = append(merged, child)
			continue
		}
		name, err := keyOf(key)
		if err != nil {
			return nil, err
		}
		if _, twice := result[name]; twice {
			return nil, invalid(key, "the key %q is set twice; remove one of them", name)
		}
		c.bytes += int64(len(name))
		if result[name], err = c.value(child, depth+1); err != nil {
			return nil, err
		}
	}
	for _, from := range merged {
		if err := c.merge(result, from, depth); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func (c *converter) merge(into map[string]any, from *yaml.Node, depth int) error {
	value, err := c.value(from, depth+1)
	if err != nil {
		return err
	}
	sources, ok := value.([]any)
	if !ok {
		sources = []any{value}
	}
	for _, source := range sources {
		fields, ok := source.(map[string]any)
		if !ok {
			return invalid(from, "only mappings can be merged with <<")
		}
		for key, value := range fields {
			if _, set := into[key]; !set {
				into[key] = value
			}
		}
	}
	return nil
}

func isMerge(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!merge" }

// keyOf returns a key as a string, the only type that JSON has.
func keyOf(n *yaml.Node) (string, error) {
	if n = content(n); n.Kind == yaml.ScalarNode {
		value, err := scalar(n)
		if err != nil {
			return "", err
		}
		switch v := value.(type) {
		case string:
			return v, nil
		case bool:
			return strconv.FormatBool(v), nil
		case int64:
			return strconv.FormatInt(v, 10), nil
		}
	}
	return "", invalid(n, "a key must be a string")
}

// scalar resolves a scalar by the rules of YAML 1.1, as kubectl does: yes and on are true.
func scalar(n *yaml.Node) (any, error) {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return nil, nil
	case "!!str":
		if value, ok := oldBooleans[n.Value]; ok && n.Style == 0 {
			return value, nil
		}
		return n.Value, nil
	case "!!timestamp", "!!merge":
		return n.Value, nil
	case "!!bool", "!!int", "!!float", "!!binary":
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, invalid(n, "%q is not a valid %s", n.Value, tag[2:])
		}
		return number(n, value)
	default:
		return nil, invalid(n, "the tag %s is not supported; remove it", tag)
	}
}

var oldBooleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// number returns numbers as unstructured objects have them: int64 for integers.
func number(n *yaml.Node, value any) (any, error) {
	switch v := value.(type) {
	case int:
		return int64(v), nil
	case uint64:
		return float64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, invalid(n, "%q is not a number that JSON can represent", n.Value)
		}
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v), nil
		}
	}
	return value, nil
}
