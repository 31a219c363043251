package install

import (
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	apifuzzer "k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/fuzzer"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestRoundTripStoredVersions(t *testing.T) {
	// The types have no protobuf encoding.
	roundtrip.RoundTripTestForAPIGroup(t, func(scheme *runtime.Scheme) {
		utilruntime.Must(hnc.AddToScheme(scheme))
		utilruntime.Must(v1beta1.AddToScheme(scheme))
		utilruntime.Must(v1alpha3.AddToScheme(scheme))
	}, fuzzer.Funcs)
}

// The hub can represent all of v1alpha2, but not the reverse. Conditions have a test of their own.
func TestRoundTripV1alpha2(t *testing.T) {
	scheme := scheme()
	codecs := serializer.NewCodecFactory(scheme)
	filler := apifuzzer.FuzzerFor(apifuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, fuzzer.Funcs), rand.NewSource(1), codecs)
	for _, obj := range []runtime.Object{&v1alpha2.HierarchyConfiguration{}, &v1alpha2.SubnamespaceAnchor{}, &v1alpha2.HNCConfiguration{}, &v1alpha2.HierarchicalResourceQuota{}} {
		for range 300 {
			filler.Fill(obj)
			switch obj := obj.(type) {
			case *v1alpha2.HierarchyConfiguration:
				obj.Status.Conditions = nil
			case *v1alpha2.HNCConfiguration:
				obj.Status.Conditions = nil
			case *v1alpha2.HierarchicalResourceQuota:
				obj.Status.RequestsSummary, obj.Status.LimitsSummary = hnc.QuotaSummaries(obj.Status.Hard, obj.Status.Used)
			}
			hub, err := scheme.ConvertToVersion(obj.DeepCopyObject(), hnc.SchemeGroupVersion)
			if err != nil {
				t.Fatal(err)
			}
			back, err := scheme.ConvertToVersion(hub, v1alpha2.SchemeGroupVersion)
			if err != nil {
				t.Fatal(err)
			}
			back.GetObjectKind().SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
			if !apiequality.Semantic.DeepEqual(obj, back) {
				t.Fatalf("%T: %s", obj, cmp.Diff(obj, back))
			}
		}
	}
}

// What a client, or an earlier build, has written as the count does not matter.
func TestChildrenAreCountedInV1beta1(t *testing.T) {
	for _, children := range [][]string{nil, {"a"}, {"a", "b", "c"}} {
		stored := &v1beta1.Hierarchy{Status: v1beta1.HierarchyStatus{Children: children, ChildCount: 2}}
		hub, err := scheme().ConvertToVersion(stored, hnc.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		served, err := scheme().ConvertToVersion(hub, v1beta1.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		if got := served.(*v1beta1.Hierarchy).Status.ChildCount; int(got) != len(children) {
			t.Errorf("children %v are counted as %d", children, got)
		}
	}
}

func scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	Install(scheme)
	return scheme
}

func TestKindsOfVersions(t *testing.T) {
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
