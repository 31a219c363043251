package propagator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/hierarchy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// newManager returns a Manager that watches fake clientsets with the tree root ← left, right and a Role in root.
func newManager(t *testing.T) *Manager {
	var namespaces, hierarchies []runtime.Object
	for _, name := range []string{"root", "left", "right"} {
		m := metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}
		namespaces = append(namespaces, &corev1.Namespace{ObjectMeta: m})
		if name != "root" {
			m.Name, m.Namespace = hnc.Singleton, name
			hierarchies = append(hierarchies, &v1beta1.Hierarchy{ObjectMeta: m, Spec: v1beta1.HierarchySpec{Parent: "root"}})
		}
	}
	role := &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "root", Name: "a", UID: "a", ResourceVersion: "1"},
	}
	partial := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(partial); err != nil {
		t.Fatal(err)
	}
	kubernetesClient, hierarchyClient := kubernetesfake.NewSimpleClientset(namespaces...), fake.NewSimpleClientset(hierarchies...)
	dynamicClient, metadataClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(scheme.Scheme, map[schema.GroupVersionResource]string{hnc.CRDResource: "CustomResourceDefinitionList"}, role), metadatafake.NewSimpleMetadataClient(partial)
	for _, client := range []*clientgotesting.Fake{&kubernetesClient.Fake, &hierarchyClient.Fake, &dynamicClient.Fake, &metadataClient.Fake} {
		client.PrependWatchReactor("*", refuseWatchList)
	}
	m := New(Config{
		Kubernetes: kubernetesClient, Hierarchy: hierarchyClient, Dynamic: dynamicClient, Metadata: metadataClient,
		Events:  record.NewFakeRecorder(100),
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false), ConfigurationWindow: time.Millisecond,
		Discover: func(context.Context) (configuration.Cluster, error) {
			return configuration.Cluster{Mapper: meta.NewDefaultRESTMapper([]schema.GroupVersion{})}, nil
		},
	})
	m.Watch(t.Context())
	if err := m.cache.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

// refuseWatchList makes reflectors list: the fake clientsets send no initial events.
func refuseWatchList(action clientgotesting.Action) (bool, watch.Interface, error) {
	if watching, ok := action.(clientgotesting.WatchActionImpl); ok && watching.ListOptions.SendInitialEvents != nil {
		return true, nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil)
	}
	return false, nil, nil
}

// reconcileCache makes the cache what it is after everything was written.
func (m *Manager) reconcileCache(s *cache.State) {
	kind, _ := s.KindOf(copies.Roles.GroupResource())
	index := s.Kind(kind).Index
	for range 2 { // Hierarchies depend on those of their children.
		for i, name := range s.Tree.Names() {
			ns := s.Tree.Namespace(name)
			s.Tree.SetNamespace(tree.NewNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				Name: name, UID: ns.UID, ResourceVersion: ns.ResourceVersion + "0",
				Labels: namespacestate.Labels(s.Tree, name), Annotations: map[string]string{hnc.AnnotationAncestry: namespacestate.Ancestry(s.Tree, name)},
			}}))
			if plan := hierarchy.Plan(s.Tree, name, metav1.Now()); plan != nil {
				h := &tree.Hierarchy{Namespace: name, UID: types.UID(name)}
				if plan.Hierarchy != nil {
					*h = *plan.Hierarchy
				}
				h.Status = plan.Status
				h.ResourceVersion += "2"
				s.Tree.SetHierarchy(h)
			}
			if write := index.Decide(namespacestate.Destination(s.Tree, name), "a"); write != nil {
				index.Wrote(write.Source, name, copies.Written{UID: types.UID(name), ResourceVersion: fmt.Sprint(i + 2)}, true)
			}
		}
	}
}

func TestOnlyDivergentNamespacesAreEnqueuedAtTheStart(t *testing.T) {
	m := newManager(t)
	divergences := func() string {
		var words []string
		m.cache.Read(func(s *cache.State) {
			for what, r := range map[string]reconciler{"labels": m.namespaces, "status": m.hierarchies, "copies": m.copies} {
				for _, namespace := range divergent(s, r.Diverges) {
					words = append(words, namespace+" "+what)
				}
			}
		})
		slices.Sort(words)
		return strings.Join(words, ", ")
	}
	if got, want := divergences(), "left copies, left labels, left status, right copies, right labels, right status, root labels, root status"; got != want {
		t.Errorf("before anything is written %s diverge, want %s", got, want)
	}
	m.cache.Update(m.reconcileCache)
	if got := divergences(); got != "" {
		t.Errorf("after everything is written %s diverge", got)
	}
	m.cache.Update(func(s *cache.State) {
		kind, _ := s.KindOf(copies.Roles.GroupResource())
		index := s.Kind(kind).Index
		o := index.Get("left", "a")
		index.Delete(o.Namespace, o.Name, o.UID)
		s.Tree.DeleteHierarchy("right", s.Tree.Hierarchy("right").UID)
	})
	if got, want := divergences(), "left copies, right copies, right labels, root status"; got != want {
		t.Errorf("divergent are %s, want %s", got, want)
	}
}

// converged returns the Manager with a cache in which nothing differs.
func (m *Manager) converged(t *testing.T) *Manager {
	m.cache.Update(m.reconcileCache)
	if m.differs() {
		t.Fatal("something differs at first")
	}
	return m
}

func TestUnreadKindsMayDiffer(t *testing.T) {
	m := newManager(t).converged(t)
	m.cache.Update(func(s *cache.State) {
		kind, _ := s.KindOf(copies.Roles.GroupResource())
		s.Kind(kind).Synced = false
	})
	if !m.differs() {
		t.Error("copies that were not listed do not differ")
	}
}

func TestResourceQuotasWithoutAQuotaDiffer(t *testing.T) {
	m := newManager(t).converged(t)
	if _, err := m.Kubernetes.CoreV1().ResourceQuotas("left").Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{
		Namespace: "left", Name: quota.Scope("").ObjectName(), UID: "q", ResourceVersion: "9", Labels: map[string]string{hnc.LabelQuota: "true"},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return m.differs(), nil }); err != nil {
		t.Error("a ResourceQuota that would be deleted does not differ")
	}
}
