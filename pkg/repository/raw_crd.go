package repository

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

func crdGroup(o *object.Object) string {
	group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
	return group
}

func malformedCRD(_ *compilation, o *object.Object) finding {
	if !o.Is(object.CRD) {
		return finding{}
	}
	if _, err := kindscope.ParseCRD(o); err != nil {
		return findf("", "the CustomResourceDefinition is malformed: %v", err)
	}
	return finding{}
}

func invalidCRDName(_ *compilation, o *object.Object) finding {
	if !o.Is(object.CRD) {
		return finding{}
	}
	crd, err := kindscope.ParseCRD(o)
	if err != nil {
		return finding{}
	}
	if want := crd.Plural + "." + crd.Kind.Group; o.GetName() != want {
		return findf("metadata.name", "metadata.name: a CustomResourceDefinition must be named <plural>.<group>, which is %q and not %q", want, o.GetName())
	}
	return finding{}
}

// DefinedKinds returns the kinds that CustomResourceDefinitions among the objects define.
func DefinedKinds(objects []*object.Object) []schema.GroupKind {
	return slices.Collect(maps.Keys(kindscope.FromCRDs(objects)))
}

// removedCRDs reports objects whose CustomResourceDefinition was in the previous revision.
func removedCRDs(c *compilation) report.Errors {
	present := kindscope.FromCRDs(c.objects)
	previous := sets.New(c.PreviousKinds...)
	var errors report.Errors
	for _, o := range c.objects {
		kind := o.GroupKind()
		if _, ok := present[kind]; !ok && previous.Has(kind) {
			errors = append(errors, &report.Error{
				Message: fmt.Sprintf("the CustomResourceDefinition of %s was removed, but the repository still contains this object; remove it as well", kind),
				Sources: []report.Source{o.Source("")},
			})
		}
	}
	return errors
}
