package restore

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	eventrecord "k8s.io/client-go/tools/record"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

func configuration(uid types.UID) *v1beta1.HNCConfiguration {
	return &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName, UID: uid}}
}

func system(annotations map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hnc.SystemNamespace, UID: "system", Annotations: annotations}}
}

// fixture is a controller on fake clientsets. Its cache is filled by hand.
type fixture struct {
	*Controller
	t         *testing.T
	system    *kubernetesfake.Clientset
	hierarchy *fake.Clientset
	// different reports that something would be written.
	different bool
}

func newFixture(t *testing.T, namespace *corev1.Namespace, objects ...runtime.Object) *fixture {
	f := &fixture{t: t, system: kubernetesfake.NewSimpleClientset(), hierarchy: fake.NewSimpleClientset(objects...)}
	if namespace != nil {
		f.system = kubernetesfake.NewSimpleClientset(namespace)
	}
	f.Controller = New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: f.system, Hierarchy: f.hierarchy,
		Events:  &eventrecord.FakeRecorder{},
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, NewStore(f.system, f.hierarchy, v1beta1.HNCConfigurationSpec{}), Config{Parallelism: 2, Differs: func() bool { return f.different }})
	return f
}

// namespaces enters namespaces "name depth-labels" into the cache, as "leaf root=1".
func (f *fixture) namespaces(lines ...string) {
	for i, line := range lines {
		name, label, _ := strings.Cut(line, " ")
		labels := map[string]string{hnc.TreeLabel(name): "0"}
		if parent, depth, ok := strings.Cut(label, "="); ok {
			labels[hnc.TreeLabel(parent)] = depth
		}
		f.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), ResourceVersion: fmt.Sprint(i + 1), Labels: labels,
		}})
	}
}

// run recognizes the store, and returns what the system namespace records then.
func (f *fixture) run() string {
	f.t.Helper()
	if err := f.Run(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	ns, err := f.system.CoreV1().Namespaces().Get(f.t.Context(), hnc.SystemNamespace, metav1.GetOptions{})
	if err != nil {
		return "no namespace"
	}
	return ns.Annotations[hnc.AnnotationStore]
}

// created returns the hierarchies and Subnamespaces that were created, in order.
func (f *fixture) created() string {
	var words []string
	for _, action := range f.hierarchy.Actions() {
		if create, ok := action.(clientgotesting.CreateAction); ok && action.GetResource().Resource == "hierarchies" {
			h := create.GetObject().(*v1beta1.Hierarchy)
			words = append(words, h.Namespace+" below "+h.Spec.Parent)
		}
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

func TestStoreIsRecordedTheFirstTime(t *testing.T) {
	f := newFixture(t, system(nil), configuration("first"))
	f.namespaces("root", "leaf")
	f.different = true
	if got := f.run(); got != "first" {
		t.Errorf("recorded %q", got)
	}
	if got := f.created(); got != "" {
		t.Errorf("rebuilt %s", got)
	}
}

// The system namespace was deleted with the store, and hns was installed again.
func TestLabelsThatNoHierarchyExplainsPause(t *testing.T) {
	for _, test := range []struct{ trust, created string }{{hnc.TrustHierarchies, ""}, {hnc.TrustNamespaces, "leaf below root"}} {
		f := newFixture(t, system(nil), configuration("new"))
		f.namespaces("root", "leaf root=1")
		f.different = true
		if done, err := f.recognize(t.Context(), 0); done || err != nil {
			t.Fatalf("done %v, error %v", done, err)
		}
		if c := f.configuration().Status.Conditions; len(c) != 1 || c[0].Reason != hnc.ReasonHierarchiesMissing || !strings.Contains(c[0].Message, "leaf") {
			t.Fatalf("conditions %+v", c)
		}
		f.trust(f.configuration().TrustDecision(test.trust))
		if got := f.run(); got != "new" || f.created() != test.created {
			t.Errorf("trust in %s: recorded %q, created %q", test.trust, got, f.created())
		}
	}
}

// What HNC has is imported before the propagator starts.
func TestLabelsOfKnownHierarchiesDoNotPause(t *testing.T) {
	f := newFixture(t, system(nil), configuration("new"))
	f.namespaces("root", "leaf root=1")
	f.Cache.ObserveHierarchy(&v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: hnc.Singleton, UID: "h", ResourceVersion: "9"}, Spec: v1beta1.HierarchySpec{Parent: "root"},
	})
	f.different = true
	if got := f.run(); got != "new" || f.created() != "" {
		t.Errorf("recorded %q, created %q", got, f.created())
	}
}

// A failure in the middle of the first checkpoint is no restore.
func TestFirstCheckpointIsRepeated(t *testing.T) {
	f := newFixture(t, system(nil), configuration("first"))
	f.different = true
	var failed bool
	f.hierarchy.PrependReactor("patch", "hncconfigurations", func(clientgotesting.Action) (bool, runtime.Object, error) {
		if failed {
			return false, nil, nil
		}
		failed = true
		return true, nil, apierrors.NewServiceUnavailable("away")
	})
	if done, err := f.recognize(t.Context(), 0); done || err == nil {
		t.Fatalf("done %v, error %v", done, err)
	}
	if done, err := f.recognize(t.Context(), 1); !done || err != nil || f.Paused() {
		t.Fatalf("done %v, error %v, paused %v: %+v", done, err, f.Paused(), f.configuration().Status)
	}
	if got := f.run(); got != "first" {
		t.Errorf("recorded %q", got)
	}
}

func TestConfigurationIsCreatedToIdentifyAStore(t *testing.T) {
	f := newFixture(t, system(nil))
	f.hierarchy.PrependReactor("create", "hncconfigurations", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		created := action.(clientgotesting.CreateAction).GetObject().(*v1beta1.HNCConfiguration)
		created.UID = "created"
		return false, nil, nil
	})
	if got := f.run(); got != "created" {
		t.Errorf("recorded %q", got)
	}
}

func TestNothingIsRecordedWithoutTheSystemNamespace(t *testing.T) {
	f := newFixture(t, nil, configuration("first"))
	if got := f.run(); got != "no namespace" {
		t.Errorf("recorded %q", got)
	}
	// A standby does not know it either, but must not continue a watch of a version that the store does not have any
	// more.
	f.hierarchy.PrependReactor("list", "hncconfigurations", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, &v1beta1.HNCConfigurationList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}, nil
	})
	if version, err := f.store.Check(t.Context()); version != "7" || err != nil {
		t.Errorf("a store that is not known is checked: %q, %v", version, err)
	}
}

func TestHierarchiesAreRebuiltInAnotherStore(t *testing.T) {
	f := newFixture(t, system(map[string]string{hnc.AnnotationStore: "lost"}), configuration("second"))
	f.namespaces("root", "leaf root=1", "other")
	// One that is refused does not prevent the others.
	f.namespaces("refused root=1")
	f.hierarchy.PrependReactor("create", "hierarchies", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if action.GetNamespace() == "refused" {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "hierarchies"}, hnc.Singleton, errors.New("not legal"))
		}
		return false, nil, nil
	})
	if got := f.run(); got != "second" {
		t.Errorf("recorded %q", got)
	}
	if got, want := f.created(), "leaf below root, refused below root"; got != want {
		t.Errorf("created %q, want %q", got, want)
	}
	// The next time the store is known.
	f.hierarchy.ClearActions()
	if f.run(); f.created() != "" {
		t.Errorf("created again: %s", f.created())
	}
}

// The labels do not name the parent of an orphan, so its copies would be deleted.
func TestWhatTheRebuildDoesNotDescribePauses(t *testing.T) {
	f := newFixture(t, system(map[string]string{hnc.AnnotationStore: "lost", hnc.AnnotationCheckpoint: "7-a"}), configuration("second"))
	f.namespaces("root", "leaf root=1")
	f.different = true
	for attempt := range 7 {
		if done, err := f.recognize(t.Context(), attempt); done || err != nil {
			t.Fatalf("done %v, error %v", done, err)
		}
	}
	if c := f.configuration().Status.Conditions; len(c) != 1 || c[0].Reason != hnc.ReasonHierarchiesLost {
		t.Errorf("conditions %+v", c)
	}
	if got := f.created(); got != "leaf below root" {
		t.Errorf("created %q", got)
	}
	f.different = false
	if got := f.run(); got != "second" {
		t.Errorf("recorded %q", got)
	}
}

func TestCheckOfAKnownStore(t *testing.T) {
	resource := schema.GroupResource{Group: hnc.GroupName, Resource: "hncconfigurations"}
	for name, test := range map[string]struct {
		list    *v1beta1.HNCConfigurationList
		err     error
		version string
		lost    bool
	}{
		"an older one": {&v1beta1.HNCConfigurationList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []v1beta1.HNCConfiguration{*at("0-old", configuration("known"))}}, nil, "", true},
		"the same":     {&v1beta1.HNCConfigurationList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []v1beta1.HNCConfiguration{*at("3-now", configuration("known"))}}, nil, "7", false},
		"another":      {&v1beta1.HNCConfigurationList{Items: []v1beta1.HNCConfiguration{*configuration("other")}}, nil, "", true},
		"an empty one": {&v1beta1.HNCConfigurationList{}, nil, "", true},
		"it is away":   {nil, apierrors.NewServiceUnavailable("away"), "", false},
		"it fails":     {nil, apierrors.NewGenericServerResponse(http.StatusInternalServerError, "list", resource, "", "", 0, true), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, system(map[string]string{hnc.AnnotationStore: "known", hnc.AnnotationCheckpoint: "3-now"}), at("3-now", configuration("known")))
			f.run()
			f.hierarchy.PrependReactor("list", "hncconfigurations", func(clientgotesting.Action) (bool, runtime.Object, error) {
				if test.err != nil {
					return true, nil, test.err
				}
				return true, test.list, nil
			})
			version, err := f.store.Check(t.Context())
			if version != test.version || (err == nil) != (test.version != "") {
				t.Errorf("version %q, error %v", version, err)
			}
			if got := f.store.Lost() != nil; got != test.lost {
				t.Errorf("lost: %v", f.store.Lost())
			}
			if test.lost {
				f.store.AwaitLoss(t.Context())
			}
		})
	}
}
