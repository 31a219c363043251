package subnamespace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/namespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// objects are those of a parent p with a sub-namespace c and its child d.
type objects struct {
	p, c, d          *corev1.Namespace
	hierarchyP       *v1beta1.Hierarchy
	hierarchyC       *v1beta1.Hierarchy
	hierarchyD       *v1beta1.Hierarchy
	subnamespace     *v1beta1.Subnamespace
	subnamespaceD    *v1beta1.Subnamespace
	cascadingLabel   map[string]string
	terminationStamp *metav1.Time
}

func newObjects() *objects {
	o := &objects{cascadingLabel: map[string]string{hnc.LabelCascadingDeletion: hnc.CascadingAllowed}, terminationStamp: &metav1.Time{}}
	ns := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), ResourceVersion: "10"}}
	}
	h := func(namespace, parent string) *v1beta1.Hierarchy {
		return &v1beta1.Hierarchy{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.Singleton, UID: types.UID("h-" + namespace), ResourceVersion: "11"},
			Spec:       v1beta1.HierarchySpec{Parent: parent},
		}
	}
	o.p, o.c, o.d, o.hierarchyP, o.hierarchyC, o.hierarchyD = ns("p"), ns("c"), ns("d"), h("p", ""), h("c", "p"), h("d", "c")
	o.p.DeletionTimestamp = o.terminationStamp
	o.c.Annotations, o.c.Labels = map[string]string{hnc.AnnotationSubnamespaceOf: "p"}, o.cascadingLabel
	o.subnamespace = &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{
		Namespace: "p", Name: "c", UID: "s", ResourceVersion: "12", Finalizers: []string{hnc.FinalizerSubnamespace},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "p", UID: "uid-p"}},
	}}
	o.allow(o.hierarchyP, true)
	return o
}

func (*objects) allow(h *v1beta1.Hierarchy, allowed bool) { h.Spec.AllowCascadingDeletion = &allowed }

// allowAbove moves the parent below d, which alone allows cascading deletion.
func (o *objects) allowAbove() {
	o.allow(o.hierarchyP, false)
	o.allow(o.hierarchyD, true)
	o.hierarchyD.Spec.Parent, o.hierarchyP.Spec.Parent = "", "d"
}

// userDeletes makes the parent stay, and the Subnamespace being deleted.
func (o *objects) userDeletes() {
	o.p.DeletionTimestamp, o.subnamespace.DeletionTimestamp = nil, o.terminationStamp
}

// reconcile reconciles the Subnamespace c with a cache of some objects, while the API servers have others. It returns
// what was written.
func reconcile(t *testing.T, cached, live *objects) ([]string, error) {
	t.Helper()
	core, hierarchy := fake.NewClientset(live.p, live.d), hncfake.NewSimpleClientset()
	if live.c != nil {
		if err := core.Tracker().Add(live.c); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range []*v1beta1.Hierarchy{live.hierarchyP, live.hierarchyC, live.hierarchyD} {
		if h != nil {
			if err := hierarchy.Tracker().Create(v1beta1.SchemeGroupVersion.WithResource("hierarchies"), h, h.Namespace); err != nil {
				t.Fatal(err)
			}
		}
	}
	selectByParent(hierarchy)
	for _, s := range []*v1beta1.Subnamespace{live.subnamespace, live.subnamespaceD} {
		if s != nil {
			if err := hierarchy.Tracker().Add(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	d := controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: treetest.Rules()}), Kubernetes: core, Hierarchy: hierarchy,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}
	for _, ns := range []*corev1.Namespace{cached.p, cached.c, cached.d} {
		d.Cache.ObserveNamespace(ns)
	}
	for _, h := range []*v1beta1.Hierarchy{cached.hierarchyP, cached.hierarchyC, cached.hierarchyD} {
		if h != nil {
			d.Cache.ObserveHierarchy(h)
		}
	}
	if cached.subnamespace != nil {
		d.Cache.ObserveSubnamespace(cached.subnamespace)
	}
	if cached.subnamespaceD != nil {
		d.Cache.ObserveSubnamespace(cached.subnamespaceD)
	}
	c := New(d, Controllers{Namespaces: namespace.New(d, nil), Copies: copies.New(d, copies.Config{})}, false)
	err := c.Reconcile(t.Context(), queue.Key{Class: queue.Subnamespace, Namespace: "p", Name: "c"})
	var written []string
	for _, action := range append(core.Actions(), hierarchy.Actions()...) {
		switch action := action.(type) {
		case clientgotesting.DeleteActionImpl:
			preconditions := action.DeleteOptions.Preconditions
			written = append(written, fmt.Sprintf("delete %s %s %s", action.Name, *preconditions.UID, *preconditions.ResourceVersion))
		case clientgotesting.PatchAction:
			written = append(written, fmt.Sprintf("patch %s %s", action.GetResource().Resource, action.GetName()))
		}
	}
	return written, err
}

func detached(o *objects) { o.subnamespace = nil }

func TestDeletionIsConfirmedWithLiveReads(t *testing.T) {
	both := func(cached, live *objects, change func(*objects)) { change(cached); change(live) }
	for name, test := range map[string]struct {
		change func(cached, live *objects)
		// refused is a part of the error, "" if the namespace is deleted.
		refused string
	}{
		"nothing has changed":                {func(_, _ *objects) {}, ""},
		"the Hierarchy of the child is gone": {func(_, live *objects) { live.hierarchyC = nil }, ""},
		"the child was changed":              {func(cached, _ *objects) { cached.c.ResourceVersion = "9" }, ""},
		"the child was created again":        {func(_, live *objects) { live.c.UID = "other" }, `namespace "c" is no sub-namespace of "p" any more`},
		"the child is a full namespace":      {func(_, live *objects) { live.c.Annotations = nil }, `namespace "c" is no sub-namespace of "p" any more`},
		"the child is of another parent": {func(_, live *objects) {
			live.c.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: "q"}
		}, `namespace "c" is no sub-namespace of "p" any more`},
		"the Subnamespace is gone":              {func(_, live *objects) { live.subnamespace = nil }, "not found"},
		"it is void":                            {func(_, live *objects) { live.subnamespace.Annotations = map[string]string{hnc.AnnotationVoid: "true"} }, "has no effect any more"},
		"it was created again":                  {func(_, live *objects) { live.subnamespace.UID = "other" }, "has no effect any more"},
		"it has no finalizer":                   {func(_, live *objects) { live.subnamespace.Finalizers = nil }, "has no effect any more"},
		"it is bound to another namespace":      {func(_, live *objects) { live.subnamespace.OwnerReferences[0].UID = "other" }, "has no effect any more"},
		"the child was moved":                   {func(_, live *objects) { live.hierarchyC.Spec.Parent = "q" }, `the parent of namespace "c" is "q" now`},
		"the parent does not terminate":         {func(_, live *objects) { live.p.DeletionTimestamp = nil }, `namespace "p" is not being deleted`},
		"the parent was created again":          {func(_, live *objects) { live.p.UID = "other" }, `namespace "p" is not being deleted`},
		"cascading deletion was forbidden":      {func(_, live *objects) { live.allow(live.hierarchyP, false) }, `cascading deletion of namespace "p" is not allowed any more`},
		"the Hierarchy that allowed it is gone": {func(_, live *objects) { live.hierarchyP = nil }, `cascading deletion of namespace "p" is not allowed any more`},
		"an ancestor allows it":                 {func(cached, live *objects) { both(cached, live, (*objects).allowAbove) }, ""},
		"the same, and the parent has left its tree": {func(cached, live *objects) {
			both(cached, live, (*objects).allowAbove)
			live.hierarchyP.Spec.Parent = ""
		}, `cascading deletion of namespace "p" is not allowed any more`},
		"it belongs to an earlier namespace": {func(_, live *objects) {
			live.hierarchyP.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "p", UID: "other"}}
		}, `cascading deletion of namespace "p" is not allowed any more`},
		"it is gone, and the parent has recorded it": {func(cached, live *objects) {
			both(cached, live, func(o *objects) { o.p.Labels = o.cascadingLabel })
			live.hierarchyP = nil
		}, ""},
		"it was forbidden, and the label is late": {func(cached, live *objects) {
			both(cached, live, func(o *objects) { o.p.Labels = o.cascadingLabel })
			live.allow(live.hierarchyP, false)
		}, `cascading deletion of namespace "p" is not allowed any more`},
		"there is no Subnamespace":     {func(cached, live *objects) { both(cached, live, detached) }, ""},
		"the same, and it was created": {func(cached, _ *objects) { detached(cached) }, `namespace "c" has a Subnamespace in namespace "p" now`},
		"the same, and the child is a root now": {func(cached, live *objects) {
			both(cached, live, detached)
			live.hierarchyC = nil
		}, `the parent of namespace "c" is "" now`},
		"the same, and the child was moved": {func(cached, live *objects) {
			both(cached, live, detached)
			live.hierarchyC.Spec.Parent = ""
		}, `the parent of namespace "c" is "" now`},
		"the same, and the parent stays": {func(cached, live *objects) {
			both(cached, live, detached)
			live.p.DeletionTimestamp = nil
		}, `namespace "p" is not being deleted`},
		"the same, and cascading deletion is not allowed": {func(cached, live *objects) {
			both(cached, live, detached)
			live.allow(live.hierarchyP, false)
		}, `cascading deletion of namespace "p" is not allowed any more`},
		"a user deletes the Subnamespace": {func(cached, live *objects) { both(cached, live, (*objects).userDeletes) }, ""},
		"the same, and a child has just come": {func(cached, live *objects) {
			both(cached, live, (*objects).userDeletes)
			cached.hierarchyD = nil
		}, `namespace "c" has children now`},
		"the same, and it has a void Subnamespace": {func(cached, live *objects) {
			both(cached, live, (*objects).userDeletes)
			both(cached, live, func(o *objects) {
				o.hierarchyD = nil
				o.subnamespaceD = &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{
					Namespace: "c", Name: "d", UID: "s-d", ResourceVersion: "13", Annotations: map[string]string{hnc.AnnotationVoid: "true"},
				}}
			})
		}, ""},
		"the same, and there is none": {func(cached, live *objects) {
			both(cached, live, (*objects).userDeletes)
			cached.hierarchyD, live.hierarchyD = nil, nil
		}, ""},
		"the same, and cascading deletion was forbidden": {func(cached, live *objects) {
			both(cached, live, (*objects).userDeletes)
			live.allow(live.hierarchyP, false)
		}, `cascading deletion of namespace "c" is not allowed any more`},
	} {
		t.Run(name, func(t *testing.T) {
			cached, live := newObjects(), newObjects()
			test.change(cached, live)
			written, err := reconcile(t, cached, live)
			if test.refused == "" {
				if want := "delete c uid-c 10"; err != nil || strings.Join(written, ", ") != want {
					t.Errorf("wrote %q and returned %v, want %q", written, err, want)
				}
				return
			}
			if len(written) > 0 || err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("wrote %q and returned %v, want an error with %q", written, err, test.refused)
			}
		})
	}
}

// A Subnamespace is deleted as soon as cascading deletion is allowed, and the watch of the one may be ahead of the
// watch of the other.
func TestReleaseWaitsForTheCacheIfCascadingIsAllowed(t *testing.T) {
	for name, allowed := range map[string]func(*objects){
		"by the namespace": func(o *objects) { o.allow(o.hierarchyC, true) },
		"by its parent":    func(o *objects) { o.allow(o.hierarchyP, true) },
	} {
		for _, terminates := range []bool{true, false} {
			cached, live := newObjects(), newObjects()
			for _, o := range []*objects{cached, live} {
				o.allow(o.hierarchyP, false)
				if !terminates {
					o.userDeletes()
				}
			}
			allowed(live)
			written, err := reconcile(t, cached, live)
			if terminates && name == "by the namespace" {
				// That does not count if its parent was deleted.
				if err != nil || strings.Join(written, ", ") != "patch subnamespaces c" {
					t.Errorf("%s, its parent terminates: wrote %q and returned %v", name, written, err)
				}
				continue
			}
			if len(written) > 0 || !errors.Is(err, outcome.ErrStale) {
				t.Errorf("%s, its parent terminates: %t: wrote %q and returned %v", name, terminates, written, err)
			}
		}
	}
}

// What is excluded is not deleted with its Subnamespace, whatever allows that.
func TestTheSubnamespaceOfAnExcludedNamespaceIsReleased(t *testing.T) {
	cached, live := newObjects(), newObjects()
	for _, o := range []*objects{cached, live} {
		o.userDeletes()
		o.c.Labels = map[string]string{"off": ""}
		o.allow(o.hierarchyC, true)
	}
	if written, err := reconcile(t, cached, live); err != nil || strings.Join(written, ", ") != "patch subnamespaces c" {
		t.Errorf("wrote %q and returned %v", written, err)
	}
}

// A namespace may be deleted before its label follows its Hierarchy.
func TestARevokedPermissionDeletesNothing(t *testing.T) {
	cached, live := newObjects(), newObjects()
	for _, o := range []*objects{cached, live} {
		o.p.Labels = o.cascadingLabel
		o.allow(o.hierarchyP, false)
	}
	if written, err := reconcile(t, cached, live); err != nil || strings.Join(written, ", ") != "patch subnamespaces c" {
		t.Errorf("wrote %q and returned %v", written, err)
	}
}

// The Hierarchies that allow cascading deletion may be gone before the namespaces below are considered.
func TestCascadingIsRecordedBeforeTheDeletion(t *testing.T) {
	cached, live := newObjects(), newObjects()
	for _, o := range []*objects{cached, live} {
		o.c.Labels = nil
	}
	live.c.ResourceVersion = "13"
	written, err := reconcile(t, cached, live)
	if want := "patch namespaces c, delete c uid-c 13"; err != nil || strings.Join(written, ", ") != want {
		t.Errorf("wrote %q and returned %v, want %q", written, err, want)
	}
}

// Its first child may come after the confirmation that there is none. The label comes before the child.
func TestANamespaceThatGetsItsFirstChildIsNotDeleted(t *testing.T) {
	for _, labeled := range []bool{false, true} {
		o := newObjects()
		o.userDeletes()
		o.hierarchyD = nil
		o.allow(o.hierarchyP, false)
		o.c.Labels = nil
		cached := *o
		if labeled {
			o.c = o.c.DeepCopy()
			o.c.Labels = map[string]string{hnc.LabelHasSubnamespaces: "true"}
		}
		written, err := reconcile(t, &cached, o)
		if deleted := slices.Contains(written, "delete c uid-c 10"); deleted == labeled || labeled != errors.Is(err, outcome.ErrStale) {
			t.Errorf("labeled: %t: wrote %q and returned %v", labeled, written, err)
		}
	}
}

// Users allowed to patch the namespace must not be able to keep it.
func TestANamespaceThatKeepsChangingIsDeleted(t *testing.T) {
	for conflicts, deleted := range map[int]bool{0: true, 1: true, 4: true, 5: false} {
		core := fake.NewClientset(newObjects().c)
		core.PrependReactor("delete", "namespaces", func(clientgotesting.Action) (bool, runtime.Object, error) {
			if conflicts--; conflicts < 0 {
				return false, nil, nil
			}
			return true, nil, apierrors.NewConflict(corev1.Resource("namespaces"), "c", errors.New("it was changed"))
		})
		c := namespace.New(controller.Dependencies{Kubernetes: core, Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false)}, nil)
		err := c.Delete(t.Context(), "c", func(*tree.Namespace) error { return nil })
		if deleted != (err == nil) || (err != nil && !errors.Is(err, outcome.ErrStale)) {
			t.Errorf("want it deleted: %t; got %v", deleted, err)
		}
	}
}
