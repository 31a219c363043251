package mapping

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// operation is one operation of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	From  *string         `json:"from,omitempty"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// jsonPatch translates the values of a JSON patch by where they go, and the keys of labels in paths.
func (t *translation) jsonPatch(kind schema.GroupVersionKind, patch []byte) ([]byte, error) {
	root := t.kinds.of(kind).node
	var operations []operation
	index := 0
	if patch = patch[space(patch, 0):]; patch[0] != '[' {
		return nil, badRequest(nil, "the patch must be a list of operations")
	}
	err := eachElement(patch, func(start, end int) error {
		at := (*path)(nil).key("patch").at(index)
		index++
		o, err := t.operation(patch[start:end], root, kind, at)
		operations = append(operations, o)
		return err
	})
	if err != nil {
		return nil, apiError(nil, err)
	}
	if operations == nil {
		return patch, nil
	}
	return marshal(operations)
}

// operation returns a translated operation. Other members than those of the standard are left out.
func (t *translation) operation(raw []byte, root *node, kind schema.GroupVersionKind, at *path) (o operation, err error) {
	if !isObject(raw) {
		return o, badRequest(at, "an operation must be an object")
	}
	seen := map[string]bool{}
	for m, err := range membersOf(raw) {
		if err != nil {
			return o, apiError(at, err)
		}
		if seen[m.name] {
			return o, badRequest(at.key(m.name), "duplicate field; set it once")
		}
		seen[m.name] = true
		s, isString := stringOf(m.value)
		switch {
		case m.name == "value":
			o.Value = m.value
		case m.name != "op" && m.name != "path" && m.name != "from":
		case !isString:
			return o, badRequest(at.key(m.name), "must be a string")
		case m.name == "op":
			o.Op = s
		case m.name == "path":
			o.Path = s
		case m.name == "from":
			o.From = &s
		}
	}
	n, pointer, err := t.pointer(o.Path, root, at.key("path"))
	if err != nil {
		return o, err
	}
	o.Path = pointer
	switch o.Op {
	case "add", "replace", "test":
		if o.Value == nil {
			return o, nil
		}
		value := *t
		value.partial = false
		if n == root {
			o.Value, err = value.patch(kind, o.Value)
		} else {
			o.Value, err = value.value(nil, o.Value, n, at.key("value"))
		}
		return o, err
	case "remove":
		return o, nil
	case "copy", "move":
		if o.From == nil {
			return o, badRequest(at.key("from"), "required")
		}
		from, pointer, err := t.pointer(*o.From, root, at.key("from"))
		if err != nil {
			return o, err
		}
		if from != n {
			return o, badRequest(at.key("from"), "names of namespaces mean something else at %q; use add with the value", o.Path)
		}
		o.From = &pointer
		return o, nil
	}
	return o, badRequest(at.key("op"), "unknown operation %q; use add, remove, replace, move, copy or test", o.Op)
}

var (
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
)

// pointer returns the node of a location, nil if it contains no references, and the translated location.
func (t *translation) pointer(pointer string, root *node, at *path) (*node, string, error) {
	if pointer == "" {
		return root, "", nil
	}
	// kube-apiserver ignores what is before the first slash.
	if pointer[0] != '/' {
		return nil, "", badRequest(at, `must begin with "/"`)
	}
	steps := strings.Split(pointer[1:], "/")
	n := root
	for i, step := range steps {
		if n == nil {
			break
		}
		name := unescapePointer.Replace(step)
		switch {
		case n.selector:
			return nil, "", badRequest(at, "a part of a selector of namespaces cannot be changed in a view; replace the selector")
		case n.with != nil && (n.isDeciding(name) || n.isDependent(name)):
			return nil, "", badRequest(at, "%q cannot be changed alone in a view; replace the object that contains it", name)
		case n.managed:
			return nil, "", badRequest(at, "managed fields cannot be changed in part; replace them")
		case n.pairs != nil:
			n = t.entry(n.pairs, name, &steps[i])
		case n.items != nil:
			n = n.items
		default:
			n = n.fields[name]
		}
	}
	return n, "/" + strings.Join(steps, "/"), nil
}

// entry returns the node of the value of a key in a map of strings, and translates the key.
func (t *translation) entry(p *pairs, key string, step *string) *node {
	translated, _, _ := p.translate(t, key, "")
	if translated != key {
		*step = escapePointer.Replace(translated)
	}
	return p.values[key]
}

func marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, badRequest(nil, "%v", err)
	}
	return raw, nil
}
