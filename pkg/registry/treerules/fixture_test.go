package treerules

import (
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// memory stores edges. The fixture fills the index.
type memory map[string]fence.Entry

func (m memory) Read(_ context.Context, names ...string) ([]fence.Entry, error) {
	var entries []fence.Entry
	for _, name := range names {
		entry := m[name]
		entry.Name = name
		entries = append(entries, entry)
	}
	return entries, nil
}

func (m memory) ListAndWatch(context.Context, func([]fence.Entry), func(fence.Entry)) {}

func (m memory) WaitUntilFresh(context.Context) error { return nil }

func (m memory) put(t *testing.T, name string, edge edgeValue) {
	t.Helper()
	value, err := json.Marshal(edge)
	if err != nil {
		t.Fatal(err)
	}
	m[name] = fence.Entry{Name: name, Value: value, Revision: int64(len(m) + 1)}
}

// marked stores edges and the revisions of marks.
type marked struct {
	memory
	marks map[string]int64
}

func (m marked) Mark(_ context.Context, name string) (int64, error) { return m.marks[name], nil }

// fixture is a tree whose index and cache of namespaces are complete until a test changes that.
type fixture struct {
	*Tree
	stored  memory
	marks   map[string]int64
	indexer cache.Indexer
	client  *fake.Clientset
	// admin holds "user/namespace".
	admin map[string]bool
	// creator holds "user/resource/namespace", or "user/namespaces/".
	creator map[string]bool
	// resource is the resource that admins may update.
	resource string
	// propagation holds "user/namespace" of the users allowed to set spec.propagation.
	propagation map[string]bool
	// abstract holds "user/namespace" of the users allowed to set spec.abstractAncestors, "user/" for all namespaces.
	abstract map[string]bool
	// updates holds "user/namespace/name" of the objects that users may update.
	updates map[string]bool
	// lists holds the namespaces in which all users may list objects.
	lists map[string]bool
}

// config returns the configuration that all parts of the tree share.
func (f *fixture) config() *Config { return f.Index.config }

func uid(name string) types.UID { return types.UID("uid-" + name) }

// newFixture creates namespaces from a map of names to parents. Those whose name starts with "sub" are sub-namespaces.
// "gone" never exists.
func newFixture(t *testing.T, parents map[string]string) *fixture {
	t.Helper()
	f := &fixture{stored: memory{}, marks: map[string]int64{}, admin: map[string]bool{}, creator: map[string]bool{}, propagation: map[string]bool{}, abstract: map[string]bool{}, resource: "hierarchies",
		indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"subnamespaceOf": func(obj any) ([]string, error) {
			return []string{managedkeys.SubnamespaceOf(obj.(*corev1.Namespace).Annotations)}, nil
		}})}
	var objects []runtime.Object
	for name, parent := range parents {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid(name)}}
		edge := edgeValue{Parent: parent, Hierarchy: uid(name)}
		if name[:min(3, len(name))] == "sub" {
			namespace.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: parent}
			edge.Subnamespace = uid(parent)
		}
		if parent != "" {
			f.stored.put(t, name, edge)
		}
		if name == "gone" {
			continue
		}
		objects = append(objects, namespace)
		if err := f.indexer.Add(namespace); err != nil {
			t.Fatal(err)
		}
	}
	f.client = fake.NewClientset(objects...)
	f.Tree = New(Config{
		Edges:      marked{f.stored, f.marks},
		Namespaces: corelisters.NewNamespaceLister(f.indexer),
		Client:     f.client,
		Authorizer: authorizer.AuthorizerFunc(f.authorize),
		Rules:      managedkeys.Default,

		SubnamespacesOf: func(parent string) ([]string, error) { return f.indexer.IndexKeys("subnamespaceOf", parent) },
	})
	f.Authorizer.SetHierarchies(hierarchies(nil))
	f.Overwrites.SetHierarchies(hierarchies(nil))
	f.sync(t)
	return f
}

// hierarchies returns the getter of hierarchies with the given specs.
func hierarchies(specs map[string]hnc.HierarchySpec) HierarchyGetter {
	return func(_ context.Context, namespace string) (*hnc.Hierarchy, error) {
		if spec, ok := specs[namespace]; ok {
			owners := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: namespace, UID: uid(namespace)}}
			return &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.Singleton, OwnerReferences: owners}, Spec: spec}, nil
		}
		return nil, apierrors.NewNotFound(hnc.Resource("hierarchies"), hnc.Singleton)
	}
}

// sync fills the index with all stored edges.
func (f *fixture) sync(t *testing.T) {
	t.Helper()
	for _, entry := range f.stored {
		s, err := decode(entry)
		if err != nil {
			t.Fatal(err)
		}
		f.Index.edges[entry.Name] = s
		f.Index.forest.SetParent(entry.Name, s.Parent)
	}
	f.Index.synced = true
}

func (f *fixture) authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetVerb() == "list" && f.lists[a.GetNamespace()] {
		return authorizer.DecisionAllow, "", nil
	}
	if a.GetVerb() == "update" && f.updates[a.GetUser().GetName()+"/"+a.GetNamespace()+"/"+a.GetName()] {
		return authorizer.DecisionAllow, "", nil
	}
	who, in, on := f.admin, a.GetUser().GetName()+"/"+a.GetNamespace(), f.resource
	if a.GetSubresource() == "propagation" {
		who, on = f.propagation, "hierarchies"
	}
	if a.GetSubresource() == "abstract" {
		who, on = f.abstract, "hierarchies"
	}
	if a.GetVerb() == "update" && a.GetAPIGroup() == hnc.GroupName && a.GetResource() == on && a.GetName() == "" && who[in] {
		return authorizer.DecisionAllow, "", nil
	}
	if a.GetVerb() == "create" && f.creator[a.GetUser().GetName()+"/"+a.GetResource()+"/"+a.GetNamespace()] {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func as(t *testing.T, name string) context.Context {
	t.Helper()
	return genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name})
}

func (f *fixture) existing(t *testing.T, name string) *corev1.Namespace {
	t.Helper()
	namespace, err := f.Index.Namespace(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return namespace
}
