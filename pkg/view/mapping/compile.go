package mapping

import (
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// kinds compiles the table for each kind when it is first used. It is safe for concurrent use.
type kinds struct {
	scheme *runtime.Scheme
	known  sync.Map
}

// builtin knows the kinds of Kubernetes and ours.
var builtin = sync.OnceValue(func() *kinds {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1beta1.AddToScheme, v1alpha3.AddToScheme, v1alpha2.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // a mistake in this program
		}
	}
	return &kinds{scheme: s}
})

// kindNode is the compiled table of one kind.
type kindNode struct {
	*node
	// wire is set if the kind's encoding in protobuf is known.
	wire bool
}

// of returns the node of a kind. Of a kind that is not known, the metadata is translated.
func (k *kinds) of(kind schema.GroupVersionKind) kindNode {
	if known, ok := k.known.Load(kind); ok {
		return known.(kindNode)
	}
	of, found := k.scheme.AllKnownTypes()[kind] // New accepts kinds such as Status in any version.
	if !found {
		// Kinds that are not known are not stored: clients could name any number of them.
		if kind.GroupKind() == Definition.GroupKind() {
			return kindNode{node: definitionNode}
		}
		root := &node{fields: map[string]*node{"apiVersion": apiVersionNode}}
		root.fields["metadata"] = &node{fields: metadata(kind.GroupKind(), root)}
		return kindNode{node: root}
	}
	stored, _ := k.known.LoadOrStore(kind, compileKind(kind.GroupKind(), of))
	return stored.(kindNode)
}

// compiler builds the nodes of one kind. Types that contain themselves end in the node that is being built.
type compiler struct {
	kind  schema.GroupKind
	root  *node
	types map[reflect.Type]*node
}

var (
	objectMeta = reflect.TypeFor[metav1.ObjectMeta]()
	fieldsV1   = reflect.TypeFor[metav1.FieldsV1]()
)

func compileKind(kind schema.GroupKind, t reflect.Type) kindNode {
	c := compiler{kind: kind, root: &node{}, types: map[reflect.Type]*node{}}
	if n := c.compile(t, nil, true); n != nil {
		*c.root = *n
	}
	_, marshals := reflect.New(t).Interface().(interface{ Unmarshal([]byte) error })
	return kindNode{node: c.root, wire: marshals}
}

// compile returns the node of a type, nil if it contains no references. A rule overrides what the type says.
func (c *compiler) compile(t reflect.Type, rule *node, top bool) *node {
	switch t.Kind() {
	case reflect.Pointer:
		return c.compile(t.Elem(), rule, top)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil
		}
		var element *node
		if rule != nil {
			element = rule.items
		}
		if element = c.compile(t.Elem(), element, false); element == nil {
			return nil
		}
		return &node{items: element}
	case reflect.Struct:
		return c.structure(t, rule, top)
	case reflect.String, reflect.Map:
		if rule != nil && (rule.text != nil || rule.pairs != nil) {
			return rule
		}
	}
	return nil
}

func (c *compiler) structure(t reflect.Type, rule *node, top bool) *node {
	if t == fieldsV1 {
		if rule == nil {
			return nil
		}
		return &node{managed: true, fields: rule.fields, wire: map[protowire.Number]wireField{1: {name: "Raw", node: &node{managed: true, fields: rule.fields}}}}
	}
	if n, ok := c.types[t]; ok && rule == nil && t != objectMeta {
		return n
	}
	result := &node{fields: map[string]*node{}, wire: map[protowire.Number]wireField{}}
	if rule == nil && t != objectMeta {
		// Types that contain themselves have no references: the table has none for them.
		c.types[t] = nil
		defer func() {
			if len(result.fields) > 0 {
				c.types[t] = result
			}
		}()
	}
	rules := referencesOf(t)
	switch {
	case rule != nil:
		rules = rule.fields
	case t == reflect.TypeFor[corev1.ObjectReference]():
		rules = byKind(rules).fields
	case t == reflect.TypeFor[authorizationv1.ResourceAttributes]():
		rules = attributesNode(rules).fields
	}
	c.collect(result, t, rules, top)
	if len(result.fields) == 0 {
		return nil
	}
	switch {
	case rule != nil && rule.selector:
		result.selector = true
	case rule != nil && rule.with != nil:
		return specialize(result, rule)
	case rule == nil && t == reflect.TypeFor[corev1.ObjectReference]():
		result = specialize(result, byKind(nil))
	case rule == nil && t == reflect.TypeFor[authorizationv1.ResourceAttributes]():
		result = specialize(result, attributesNode(nil))
	}
	return result
}

// collect adds the fields of a type to a node. Fields of embedded types are fields of the object in JSON, and a message
// of their own in protobuf.
func (c *compiler) collect(result *node, t reflect.Type, rules map[string]*node, top bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		number, repeated := wireNumber(f)
		if name == "" { // embedded
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			if embedded.Kind() != reflect.Struct {
				continue
			}
			inner := &node{fields: map[string]*node{}, wire: map[protowire.Number]wireField{}}
			c.collect(inner, embedded, merged(rules, referencesOf(embedded)), false)
			maps.Copy(result.fields, inner.fields)
			if number > 0 && len(inner.fields) > 0 {
				result.wire[number] = wireField{name: f.Name, node: inner}
			}
			continue
		}
		rule := rules[name]
		if top && f.Type == objectMeta {
			rule = &node{fields: metadata(c.kind, c.root)}
		}
		n := c.compile(f.Type, rule, false)
		if n != nil {
			result.fields[name] = n
		}
		if number > 0 {
			result.wire[number] = wireField{name: name, repeated: repeated, node: n}
		}
	}
}

// specialize makes a node depend on the values of deciding fields.
func specialize(all, rule *node) *node {
	all.deciding, all.dependent = rule.deciding, rule.dependent
	plain := &node{fields: map[string]*node{}, wire: map[protowire.Number]wireField{}}
	for name, n := range all.fields {
		if !rule.isDependent(name) {
			plain.fields[name] = n
		}
	}
	for number, f := range all.wire {
		if rule.isDependent(f.name) {
			f.node = nil
		}
		plain.wire[number] = f
	}
	every := &node{fields: all.fields, wire: all.wire}
	all.with = func(value func(string) string) *node {
		chosen := rule.with(value)
		for _, name := range rule.dependent {
			if chosen.fields[name] != nil || chosen.items != nil {
				return every
			}
		}
		return plain
	}
	return all
}

// merged returns the fields of both, and those of a if both have one.
func merged(a, b map[string]*node) map[string]*node {
	if len(a) == 0 {
		return b
	}
	result := map[string]*node{}
	maps.Copy(result, b)
	maps.Copy(result, a)
	return result
}

// wireNumber returns the number of a field in protobuf, 0 if it has none.
func wireNumber(f reflect.StructField) (number protowire.Number, repeated bool) {
	words := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(words) < 3 {
		return 0, false
	}
	n, err := strconv.ParseInt(words[1], 10, 32)
	if err != nil {
		return 0, false
	}
	return protowire.Number(n), words[2] == "rep" || f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.Uint8 || f.Type.Kind() == reflect.Map
}
