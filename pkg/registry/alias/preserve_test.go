package alias

import (
	"math/rand"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	hncfuzzer "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/fuzzer"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/install"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

// written returns the object that a client of v1alpha2 sends back after a read.
func written(t *testing.T, scheme *runtime.Scheme, stored runtime.Object) runtime.Object {
	t.Helper()
	read, err := scheme.ConvertToVersion(stored, v1alpha2.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	hub, err := scheme.ConvertToVersion(read.DeepCopyObject(), hnc.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	return hub
}

func update(t *testing.T, scheme *runtime.Scheme, updated, stored runtime.Object) runtime.Object {
	t.Helper()
	before := stored.DeepCopyObject()
	got, err := Preserve(scheme, v1alpha2.SchemeGroupVersion)(t.Context(), updated, stored)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, stored); diff != "" {
		t.Errorf("the stored object was changed: %s", diff)
	}
	return got
}

func TestGetAndPutInAnOlderVersionChangesNothing(t *testing.T) {
	scheme := newScheme()
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, hncfuzzer.Funcs), rand.NewSource(1), serializer.NewCodecFactory(scheme))
	for _, stored := range []runtime.Object{&hnc.Hierarchy{}, &hnc.Subnamespace{}, &hnc.HNCConfiguration{}, &hnc.HierarchicalResourceQuota{}} {
		for range 300 {
			filler.Fill(stored)
			if got := update(t, scheme, written(t, scheme, stored), stored); !apiequality.Semantic.DeepEqual(got, stored) {
				t.Fatalf("%T: %s", stored, cmp.Diff(stored, got))
			}
		}
	}
}

// The hidden fields of list items survive only if preserve can match the items.
func TestItemsOfAllListsHaveKeys(t *testing.T) {
	var visit func(path string, typ reflect.Type)
	visit = func(path string, typ reflect.Type) {
		switch {
		case typ == reflect.TypeFor[*hnc.Rules](): // HNC's version has none of it.
		case transparent(typ):
			for i := range typ.NumField() {
				visit(path+"."+typ.Field(i).Name, typ.Field(i).Type)
			}
		case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
			if key(reflect.Zero(typ.Elem())) == nil {
				t.Errorf("%s: func key needs a case for %s", path, typ.Elem())
			}
		case typ.Kind() == reflect.Pointer:
			visit(path, typ.Elem())
		case typ.Kind() == reflect.Map:
			t.Errorf("%s: func preserve needs a case for %s", path, typ)
		}
	}
	for _, obj := range []any{hnc.Hierarchy{}, hnc.Subnamespace{}, hnc.HNCConfiguration{}} {
		for _, name := range []string{"Spec", "Status"} {
			field, _ := reflect.TypeOf(obj).FieldByName(name)
			visit(reflect.TypeOf(obj).Name()+"."+name, field.Type)
		}
	}
}

func TestOlderVersionChangesTheFieldsThatItHas(t *testing.T) {
	scheme := newScheme()
	stored := &hnc.HNCConfiguration{Spec: hnc.HNCConfigurationSpec{CreatorRole: "edit", Resources: []hnc.ResourceSpec{
		{Resource: "secrets", Mode: hnc.Propagate, OnConflict: hnc.Keep},
		{Resource: "configmaps", OnConflict: hnc.Keep},
		{Group: "apps", Resource: "deployments", OnConflict: hnc.Keep},
	}}}
	updated := written(t, scheme, stored).(*hnc.HNCConfiguration)
	updated.Spec.Resources = []hnc.ResourceSpec{
		{Resource: "pods"},
		{Group: "apps", Resource: "deployments"},
		{Resource: "secrets", Mode: hnc.Remove},
	}
	want := hnc.HNCConfigurationSpec{CreatorRole: "edit", Resources: []hnc.ResourceSpec{
		{Resource: "pods"},
		{Group: "apps", Resource: "deployments", OnConflict: hnc.Keep},
		{Resource: "secrets", Mode: hnc.Remove, OnConflict: hnc.Keep},
	}}
	if got := update(t, scheme, updated, stored).(*hnc.HNCConfiguration).Spec; !apiequality.Semantic.DeepEqual(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	updated = written(t, scheme, stored).(*hnc.HNCConfiguration)
	updated.Spec.Resources = nil
	if got := update(t, scheme, updated, stored).(*hnc.HNCConfiguration).Spec; len(got.Resources) > 0 || got.CreatorRole != "edit" {
		t.Errorf("got %v", got)
	}
}
