package mapping

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// jsonPatch translates the values of a JSON patch by where they go, and the keys of labels in paths.
func (t *translation) jsonPatch(kind schema.GroupVersionKind, patch []byte) ([]byte, error) {
	root := t.kinds.of(kind).node
	if patch = patch[space(patch, 0):]; patch[0] != '[' {
		return nil, badRequest(nil, "the patch must be a list of operations")
	}
	out, err := RewriteList(make([]byte, 0, len(patch)+256), patch, func(out []byte, index int, operation []byte) (_ []byte, keep bool, err error) {
		if out, err = t.operation(out, operation, root, kind, (*path)(nil).key("patch").at(index)); err == nil {
			err = t.fits(len(out))
		}
		return out, true, err
	})
	if err != nil {
		return nil, apiError(nil, err)
	}
	return out, nil
}

// operation is one operation of a JSON patch. From is nil if it has none.
type operation struct {
	op, path string
	from     *string
	value    []byte
}

// operation appends a translated operation. Other members than those of the standard are left out.
func (t *translation) operation(out, raw []byte, root *node, kind schema.GroupVersionKind, at *path) ([]byte, error) {
	o, err := readOperation(raw, at)
	if err != nil {
		return nil, err
	}
	n, pointer, err := t.pointer(o.path, root, at.key("path"))
	if err != nil {
		return nil, err
	}
	out = appendQuoted(append(out, `{"op":`...), o.op)
	out = appendQuoted(append(out, `,"path":`...), pointer)
	switch o.op {
	case "add", "replace", "test":
		if o.value == nil {
			break
		}
		value := *t
		value.partial = false
		out = append(out, `,"value":`...)
		if n == root {
			out, err = value.partOf(out, o.value, kind)
		} else {
			out, err = value.value(out, o.value, n, at.key("value"))
		}
		if err != nil {
			return nil, err
		}
	case "remove":
	case "copy", "move":
		if o.from == nil {
			return nil, badRequest(at.key("from"), "required")
		}
		from, pointer, err := t.pointer(*o.from, root, at.key("from"))
		if err != nil {
			return nil, err
		}
		if from != n {
			return nil, badRequest(at.key("from"), "names of namespaces mean something else at %q; use add with the value", o.path)
		}
		out = appendQuoted(append(out, `,"from":`...), pointer)
	default:
		return nil, badRequest(at.key("op"), "unknown operation %q; use add, remove, replace, move, copy or test", o.op)
	}
	return append(out, '}'), nil
}

// readOperation returns the members of an operation that are those of the standard.
func readOperation(raw []byte, at *path) (o operation, err error) {
	if !isObject(raw) {
		return o, badRequest(at, "an operation must be an object")
	}
	seen := map[string]bool{}
	for m, err := range membersOf(raw) {
		if err != nil {
			return o, apiError(at, err)
		}
		if !slices.Contains([]string{"op", "path", "from", "value"}, m.name) {
			continue
		}
		if seen[m.name] {
			return o, badRequest(at.key(m.name), "duplicate field; set it once")
		}
		seen[m.name] = true
		if m.name == "value" {
			o.value = m.value
			continue
		}
		s, isString := stringOf(m.value)
		switch {
		case m.name == "from" && string(m.value) == "null":
		case !isString:
			return o, badRequest(at.key(m.name), "must be a string")
		case m.name == "op":
			o.op = s
		case m.name == "path":
			o.path = s
		default:
			o.from = &s
		}
	}
	return o, nil
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
	if strings.Count(pointer, "/") > maxDepth {
		return nil, "", badRequest(at, "must have at most %d segments", maxDepth)
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
