package install

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/fuzzer"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestRandomObjectsSurviveARoundTripThroughEveryVersion(t *testing.T) {
	// The types have no protobuf form, and the server offers none.
	roundtrip.RoundTripTestForAPIGroup(t, Install, fuzzer.Funcs)
}

func scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	Install(scheme)
	return scheme
}

func TestAnObjectIsStoredUnderOneKindAndSeenUnderTwo(t *testing.T) {
	for _, test := range []struct {
		hub     runtime.Object
		version schema.GroupVersion
		kind    string
	}{
		{&hnc.Hierarchy{}, v1beta1.SchemeGroupVersion, "Hierarchy"},
		{&hnc.HierarchyList{}, v1beta1.SchemeGroupVersion, "HierarchyList"},
		{&hnc.Subnamespace{}, v1beta1.SchemeGroupVersion, "Subnamespace"},
		{&hnc.SubnamespaceList{}, v1beta1.SchemeGroupVersion, "SubnamespaceList"},
		{&hnc.Hierarchy{}, v1alpha2.SchemeGroupVersion, "HierarchyConfiguration"},
		{&hnc.HierarchyList{}, v1alpha2.SchemeGroupVersion, "HierarchyConfigurationList"},
		{&hnc.Subnamespace{}, v1alpha2.SchemeGroupVersion, "SubnamespaceAnchor"},
		{&hnc.SubnamespaceList{}, v1alpha2.SchemeGroupVersion, "SubnamespaceAnchorList"},
	} {
		versioned, err := scheme().ConvertToVersion(test.hub, test.version)
		if err != nil {
			t.Errorf("%T to %s: %v", test.hub, test.version, err)
			continue
		}
		if got, want := versioned.GetObjectKind().GroupVersionKind(), test.version.WithKind(test.kind); got != want {
			t.Errorf("%T: got %s, want %s", test.hub, got, want)
		}
	}
}
