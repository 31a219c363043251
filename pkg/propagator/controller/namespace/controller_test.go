package namespace

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	componentmetrics "k8s.io/component-base/metrics"
	"k8s.io/utils/keymutex"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// The owner of a namespace fills its annotations to the limit, so that its labels stay those of its old tree.
func TestLabelsAreWrittenAlthoughAnnotationsAreTooLarge(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "full", UID: "u"}})
	client.PrependReactor("patch", "namespaces", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if bytes.Contains(action.(clientgotesting.PatchAction).GetPatch(), []byte("annotations")) {
			return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Namespace"}, "full", nil)
		}
		return false, nil, nil
	})
	c := New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: client,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, nil)
	err := c.Patch(t.Context(), &tree.Namespace{Name: "full", UID: "u"}, Changes{
		Labels: map[string]*string{"new": ptr.To("1")}, Annotations: map[string]*string{"large": ptr.To("1")},
	})
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want the error of the annotations", err)
	}
	ns, err := client.CoreV1().Namespaces().Get(t.Context(), "full", metav1.GetOptions{})
	if err != nil || ns.Labels["new"] != "1" {
		t.Errorf("got the labels %v, %v", ns.Labels, err)
	}
}

// The owner of a namespace fills it up, by finalizers for instance, before it is moved: it leaves its old tree
// nevertheless.
func TestLabelsOfTheOldTreeAreRemovedFromAFullNamespace(t *testing.T) {
	old, added := hnc.TreeLabel("old"), hnc.TreeLabel("new")
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "full", UID: "u", Labels: map[string]string{old: "1"}}})
	client.PrependReactor("patch", "namespaces", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if bytes.Contains(action.(clientgotesting.PatchAction).GetPatch(), []byte(added)) {
			return true, nil, apierrors.NewInternalError(errors.New("etcdserver: request is too large"))
		}
		return false, nil, nil
	})
	c := New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: client,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, nil)
	err := c.Patch(t.Context(), &tree.Namespace{Name: "full", UID: "u"}, Changes{Labels: map[string]*string{old: nil, added: ptr.To("1")}})
	if err == nil || !strings.Contains(err.Error(), "request is too large") {
		t.Errorf("got %v, want the error of the new label", err)
	}
	ns, err := client.CoreV1().Namespaces().Get(t.Context(), "full", metav1.GetOptions{})
	if _, there := ns.Labels[old]; err != nil || there {
		t.Errorf("got the labels %v, %v", ns.Labels, err)
	}
}

// The owner of a namespace fills it up, or sets many labels by its hierarchy. What comes from above is written first,
// and what is missing is reported.
func TestWhatComesFromAboveIsWrittenWithoutTheRest(t *testing.T) {
	const ownLabel, fromAbove = "m3", "m"
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "uid-c"}})
	full := true
	client.PrependReactor("patch", "namespaces", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if full && bytes.Contains(action.(clientgotesting.PatchAction).GetPatch(), []byte(`"`+ownLabel+`"`)) {
			return true, nil, apierrors.NewInternalError(errors.New("etcdserver: request is too large"))
		}
		return false, nil, nil
	})
	c := New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: treetest.Rules()}), Kubernetes: client,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, nil)
	for name, key := range map[string]string{"p": fromAbove, "c": ownLabel} {
		c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), ResourceVersion: "1"}})
		h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: hnc.Singleton, UID: types.UID("h-" + name), ResourceVersion: "2"}}
		h.Spec.Labels = []v1beta1.MetaKVP{{Key: key, Value: "1"}}
		if name == "c" {
			h.Spec.Parent = "p"
		}
		c.Cache.ObserveHierarchy(h)
	}
	reported := func() (why string) {
		c.Cache.Read(func(s *cache.State) { why = s.Tree.Unwritten("c") })
		return why
	}
	if err := c.Sync(t.Context(), "c"); err == nil || !strings.Contains(reported(), "request is too large") {
		t.Errorf("returned %v and reports %q", err, reported())
	}
	ns, err := client.CoreV1().Namespaces().Get(t.Context(), "c", metav1.GetOptions{})
	if err != nil || ns.Labels[hnc.TreeLabel("p")] != "1" || ns.Labels[fromAbove] != "1" || ns.Annotations[hnc.AnnotationAncestry] == "" {
		t.Errorf("got %v, %v, %v", ns.Labels, ns.Annotations, err)
	}
	full = false
	if err := c.Sync(t.Context(), "c"); err != nil || reported() != "" {
		t.Errorf("when there is room: returned %v and reports %q", err, reported())
	}
}

// waiting is a lock that was held when the first decision was made: what happened until then is in the cache.
type waiting struct {
	keymutex.KeyMutex
	until func()
}

func (w waiting) LockKey(key string) {
	w.KeyMutex.LockKey(key)
	w.until()
}

// Whoever held the lock may have protected the namespace for a sub-namespace that was not known before.
func TestProtectionIsDecidedUnderItsLock(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "uid-p"}})
	c := New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: treetest.Rules()}), Kubernetes: client,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, nil)
	c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "p", UID: "uid-p", ResourceVersion: "1", Finalizers: []string{hnc.FinalizerSubnamespaces}, Labels: map[string]string{hnc.LabelHasSubnamespaces: "true"},
	}})
	c.protection = waiting{c.protection, func() {
		c.Cache.ObserveSubnamespace(&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{
			Namespace: "p", Name: "c", UID: "s", ResourceVersion: "2", Finalizers: []string{hnc.FinalizerSubnamespace}}})
	}}
	if err := c.Sync(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	for _, action := range client.Actions() {
		if patch, ok := action.(clientgotesting.PatchAction); ok && (bytes.Contains(patch.GetPatch(), []byte(hnc.LabelHasSubnamespaces)) ||
			bytes.Contains(patch.GetPatch(), []byte(hnc.FinalizerSubnamespaces))) {
			t.Errorf("the protection is removed: %s", patch.GetPatch())
		}
	}
}

// A user who keeps changing a namespace must not keep the labels of its old tree there.
func TestOnlyPodSecurityLabelsRequireAVersion(t *testing.T) {
	const enforce = "pod-security.kubernetes.io/enforce"
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "u", ResourceVersion: "9"}})
	conflicts := 0
	client.PrependReactor("patch", "namespaces", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if !bytes.Contains(action.(clientgotesting.PatchAction).GetPatch(), []byte("resourceVersion")) {
			return false, nil, nil
		}
		conflicts++
		return true, nil, apierrors.NewConflict(corev1.Resource("namespaces"), "x", errors.New("it was changed"))
	})
	c := New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: client,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, nil)
	err := c.Patch(t.Context(), &tree.Namespace{Name: "x", UID: "u", ResourceVersion: "1"}, Changes{
		Labels: map[string]*string{"tree": ptr.To("1"), enforce: ptr.To("baseline")}, Annotations: map[string]*string{hnc.AnnotationInheritedPodSecurity: ptr.To("enforce"), "other": ptr.To("1")},
	})
	if !errors.Is(err, outcome.ErrStale) || conflicts != 1 {
		t.Errorf("got %v, and %d conflicts", err, conflicts)
	}
	ns, err := client.CoreV1().Namespaces().Get(t.Context(), "x", metav1.GetOptions{})
	if err != nil || ns.Labels["tree"] != "1" || ns.Labels[enforce] != "" || ns.Annotations["other"] != "1" || ns.Annotations[hnc.AnnotationInheritedPodSecurity] != "" {
		t.Errorf("got %v, %v, %v", ns.Labels, ns.Annotations, err)
	}
}

// The first patch changes the version of the namespace: the second one is for that version, unless the Pod Security
// labels were changed, too.
func TestPodSecurityLabelsAreWrittenForTheVersionThatTheyWereDecidedOn(t *testing.T) {
	const enforce = "pod-security.kubernetes.io/enforce"
	for live, want := range map[string]string{"": "2", "privileged": "1"} {
		var versions []string
		client := fake.NewClientset()
		client.PrependReactor("patch", "namespaces", func(action clientgotesting.Action) (bool, runtime.Object, error) {
			var sent struct{ Metadata metav1.ObjectMeta }
			if err := json.Unmarshal(action.(clientgotesting.PatchAction).GetPatch(), &sent); err != nil {
				return true, nil, err
			}
			versions = append(versions, sent.Metadata.ResourceVersion)
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "u", ResourceVersion: "2", Labels: map[string]string{}}}
			if live != "" {
				ns.Labels[enforce] = live
			}
			return true, ns, nil
		})
		c := New(controller.Dependencies{
			Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: client,
			Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
		}, nil)
		_ = c.Patch(t.Context(), &tree.Namespace{Name: "x", UID: "u", ResourceVersion: "1"}, Changes{
			Labels: map[string]*string{"tree": ptr.To("1"), enforce: ptr.To("baseline")},
		})
		if len(versions) != 2 || versions[0] != "" || versions[1] != want {
			t.Errorf("with the label %q: got the versions %q, want %q for the second", live, versions, want)
		}
	}
}
