package kindscope

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// CRD holds the fields of a CustomResourceDefinition that are used.
type CRD struct {
	Kind       schema.GroupKind
	Plural     string
	Namespaced bool
}

// ParseCRD parses a CustomResourceDefinition of any version. It returns an error if the kind or its scope is missing.
func ParseCRD(o *object.Object) (CRD, error) {
	crd := CRD{}
	scope := ""
	for _, field := range []struct {
		into *string
		path []string
	}{
		{&crd.Kind.Group, []string{"spec", "group"}},
		{&crd.Kind.Kind, []string{"spec", "names", "kind"}},
		{&crd.Plural, []string{"spec", "names", "plural"}},
		{&scope, []string{"spec", "scope"}},
	} {
		value, found, err := unstructured.NestedString(o.Object, field.path...)
		name := dotted(field.path)
		if err != nil {
			return CRD{}, fmt.Errorf("%s must be a string", name)
		}
		if !found || value == "" {
			return CRD{}, fmt.Errorf("%s must be set", name)
		}
		*field.into = value
	}
	switch scope {
	case "Namespaced":
		crd.Namespaced = true
	case "Cluster":
	default:
		return CRD{}, fmt.Errorf("spec.scope must be Namespaced or Cluster, not %q", scope)
	}
	return crd, nil
}

func dotted(path []string) string {
	text := path[0]
	for _, field := range path[1:] {
		text += "." + field
	}
	return text
}

// FromCRDs returns the kinds of the CustomResourceDefinitions among the objects. Malformed ones define nothing.
func FromCRDs(objects []*object.Object) Table {
	table := Table{}
	for _, o := range objects {
		if o.Is(object.CRD) {
			if crd, err := ParseCRD(o); err == nil {
				table[crd.Kind] = crd.Namespaced
			}
		}
	}
	return table
}
