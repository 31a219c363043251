package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

const levels = 2000

// olderServer is what a server without hierarchies/tree answers.
var olderServer = apierrors.NewGenericServerResponse(404, "get", hnc.Resource("hierarchies"), "", "", 0, true)

// testCluster is a chain of namespaces, each the parent of the next. unserved, if any, is the error of
// hierarchies/tree.
func testCluster(t *testing.T, unserved error) (c *Clients, ours *fake.Clientset, requests func() int) {
	t.Helper()
	var namespaces, hierarchies []runtime.Object
	answer := &v1alpha3.HierarchyTree{}
	for i := range levels {
		meta := metav1.ObjectMeta{Name: level(i)}
		namespaces = append(namespaces, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta})
		h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: level(i)}}
		if i > 0 {
			h.Spec.Parent = level(i - 1)
		}
		hierarchies = append(hierarchies, h)
		answer.Nodes = append(answer.Nodes, v1alpha3.HierarchyTreeNode{Name: level(i), Parent: h.Spec.Parent, Depth: int32(i), Kind: v1alpha3.NamespaceFull})
	}
	answer.Nodes = append(answer.Nodes, v1alpha3.HierarchyTreeNode{Name: "missing", Parent: level(0), Depth: 1, Kind: v1alpha3.NamespaceMissing})
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	meta := metadatafake.NewSimpleMetadataClient(scheme, namespaces...)
	ours = fake.NewClientset(hierarchies...)
	ours.PrependReactor("get", "hierarchies/tree", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if unserved != nil {
			return true, nil, unserved
		}
		if action.GetNamespace() != level(0) {
			return true, nil, apierrors.NewNotFound(NamespaceResource.GroupResource(), action.GetNamespace())
		}
		return true, answer, nil
	})
	c = &Clients{Hierarchy: ours, metadata: meta, namespaces: meta.Resource(NamespaceResource)}
	return c, ours, func() int { return len(ours.Actions()) + len(meta.Actions()) }
}

func level(i int) string { return fmt.Sprintf("n%04d", i) }

// lastLine returns the last line of a tree's text, which must have so many lines.
func lastLine(t *testing.T, tr *tree.Tree, lines int) string {
	t.Helper()
	var s strings.Builder
	if err := tr.Write(&s, tr.Roots(), tree.Paint{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Split(strings.TrimSuffix(s.String(), "\n"), "\n")
	if len(text) != lines {
		t.Errorf("got %d lines, want %d", len(text), lines)
	}
	return text[len(text)-1]
}

func TestTwoThousandLevelsTakeAtMostThreeRequests(t *testing.T) {
	other := runtime.NewNotRegisteredErrForKind("scheme", v1beta1.SchemeGroupVersion.WithKind("HierarchyTree"))
	for name, row := range map[string]struct {
		unserved error
		load     func(*Clients) (*tree.Tree, error)
		requests int
	}{
		"one tree": {nil, func(c *Clients) (*tree.Tree, error) {
			return loadTrees(t.Context(), c, []string{level(0)})
		}, 1},
		"one tree in another version of the API": {other, func(c *Clients) (*tree.Tree, error) {
			return loadTrees(t.Context(), c, []string{level(0)})
		}, 3},
		"one tree of an older server": {olderServer, func(c *Clients) (*tree.Tree, error) {
			return loadTrees(t.Context(), c, []string{level(0)})
		}, 3},
		"all trees": {nil, func(c *Clients) (*tree.Tree, error) { return loadAllTrees(t.Context(), c, io.Discard) }, 2},
	} {
		c, _, requests := testCluster(t, row.unserved)
		tr, err := row.load(c)
		if err != nil {
			t.Fatal(err)
		}
		if n := requests(); n != row.requests {
			t.Errorf("%s: got %d requests, want %d", name, n, row.requests)
		}
		if got := lastLine(t, tr, levels); !strings.HasSuffix(got, "└── n1999") {
			t.Errorf("%s: the last line ends in %.20q", name, got)
		}
	}
}

// Objects of other trees are not read for a small one.
func TestObjectsOfFewNamespacesAreListedThere(t *testing.T) {
	for _, row := range []struct {
		namespaces int
		all        bool
		requests   int
	}{{3, false, 3}, {fewNamespaces, false, fewNamespaces}, {fewNamespaces + 1, false, 1}, {3, true, 1}} {
		c, _, requests := testCluster(t, nil)
		tr := tree.New()
		for i := range row.namespaces {
			tr.AddNamespace(level(i), false, false)
			if i > 0 {
				tr.AddHierarchy(level(i), level(i-1), nil)
			}
		}
		tr.Link()
		for _, namespace := range []string{level(1), level(levels - 1)} {
			object := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine"}}
			if err := c.metadata.(*metadatafake.FakeMetadataClient).Tracker().Add(object); err != nil {
				t.Fatal(err)
			}
		}
		o := &treeOptions{roots: []string{level(0)}, all: row.all}
		if err := o.addObjects(t.Context(), c, tr, corev1.SchemeGroupVersion.WithResource("configmaps")); err != nil {
			t.Fatal(err)
		}
		if n := requests(); n != row.requests {
			t.Errorf("%d namespaces, all: %t: got %d requests, want %d", row.namespaces, row.all, n, row.requests)
		}
		if objects := tr.Get(level(1)).Objects; len(objects) != 1 {
			t.Errorf("%d namespaces, all: %t: it has the objects %v", row.namespaces, row.all, objects)
		}
	}
}

func TestUsersWithoutListSeeTheirNamespaces(t *testing.T) {
	c, ours, _ := testCluster(t, nil)
	ours.PrependReactor("list", "hierarchies", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(hnc.Resource("hierarchies"), "",
			fmt.Errorf("user %q cannot list resource %q in API group %q at the cluster scope", "bob", "hierarchies", hnc.GroupName))
	})
	ours.PrependReactor("list", "mynamespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		mine := func(name, parent string, kind v1alpha3.NamespaceKind) v1alpha3.MyNamespace {
			return v1alpha3.MyNamespace{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1alpha3.MyNamespaceStatus{Parent: parent, Kind: kind}}
		}
		return true, &v1alpha3.MyNamespaceList{Items: []v1alpha3.MyNamespace{
			mine("a", "unseen", v1alpha3.NamespaceFull), mine("b", "a", v1alpha3.NamespaceSubnamespace)}}, nil
	})
	var out, errOut strings.Builder
	tr, err := loadAllTrees(t.Context(), c, &errOut)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Write(&out, tr.Roots(), tree.Paint{}); err != nil {
		t.Fatal(err)
	}
	if want := "a\n└── [s] b\n\n[s] indicates subnamespaces\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if want := "Warning: only namespaces that you may see are shown, and no conditions: missing permission: list hierarchies.hnc.x-k8s.io in the whole cluster\n"; errOut.String() != want {
		t.Errorf("got %q, want %q", errOut.String(), want)
	}
}

// Users who create a namespace that another tool manages may annotate it as a sub-namespace, too.
func TestExternalNamespacesAreNoSubnamespaces(t *testing.T) {
	deleted := metav1.Now()
	external := map[string]string{hnc.AnnotationManagedBy: "eng", hnc.AnnotationSubnamespaceOf: "acme"}
	for name, test := range map[string]struct {
		annotations  map[string]string
		kind         ui.Kind
		subnamespace bool
		parent       string
	}{
		"sub": {map[string]string{hnc.AnnotationSubnamespaceOf: "acme"}, ui.Subnamespace, true, "acme"},
		"own": {map[string]string{hnc.AnnotationManagedBy: hnc.GroupName, hnc.AnnotationSubnamespaceOf: "acme"}, ui.Subnamespace, true, "acme"},
		"ext": {external, ui.External, false, ""},
		"all": {nil, ui.Full, false, ""},
	} {
		ns := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: test.annotations, DeletionTimestamp: &deleted}}
		node := newTree([]metav1.PartialObjectMetadata{ns}, nil).Get(name)
		if node.Subnamespace != test.subnamespace || node.Parent != test.parent {
			t.Errorf("%s: in the tree: %+v", name, node)
		}
		if got := newMember(&ns, node).Kind; got != test.kind {
			t.Errorf("%s: on the page: %s, want %s", name, got, test.kind)
		}
	}
}

func TestRootThatDoesNotExist(t *testing.T) {
	for _, unserved := range []error{nil, olderServer} {
		c, _, _ := testCluster(t, unserved)
		_, err := loadTrees(t.Context(), c, []string{level(0), "nope"})
		if !apierrors.IsNotFound(err) || err.Error() != `namespaces "nope" not found` {
			t.Errorf("got %v", err)
		}
	}
}

func TestSubnamespacesThatAreBeingDeletedStayBelowTheirParents(t *testing.T) {
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	sub := func(name string, deleted *metav1.Time) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{
			Name: name, DeletionTimestamp: deleted, Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "top"},
		}}
	}
	top := sub("top", nil)
	top.Annotations = nil
	meta := metadatafake.NewSimpleMetadataClient(scheme, top, sub("going", &now), sub("orphan", nil))
	tr, err := loadAllTrees(t.Context(), &Clients{Hierarchy: fake.NewClientset(), metadata: meta, namespaces: meta.Resource(NamespaceResource)}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := tr.Write(&out, tr.Roots(), tree.Paint{}); err != nil {
		t.Fatal(err)
	}
	if want := "top\n└── [s] going (deleting)\n"; !strings.Contains(out.String(), want) || strings.Contains(out.String(), "── [s] orphan") {
		t.Errorf("got %q", out.String())
	}
}
