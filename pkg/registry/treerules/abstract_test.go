package treerules

import (
	"context"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestAbstractAncestors(t *testing.T) {
	for name, row := range map[string]struct {
		namespace     string
		before, after []string
		// may are the namespaces in which the user has the permission.
		may    []string
		shared bool
		// change edits the fixture.
		change func(*testing.T, *fixture)
		is     func(error) bool
		says   string
	}{
		"with the permission in the cluster":   {namespace: "root1", after: []string{"eng", "top"}, may: []string{""}},
		"with the permission in each":          {namespace: "root1", after: []string{"eng", "top"}, may: []string{"root1", "eng", "top"}, is: apierrors.IsForbidden, says: "in the whole cluster"},
		"not in the namespace":                 {namespace: "root1", after: []string{"eng"}, may: []string{"eng"}, is: apierrors.IsForbidden, says: "in the whole cluster"},
		"not in one of the names":              {namespace: "root1", after: []string{"eng", "top"}, may: []string{"root1", "eng"}, is: apierrors.IsForbidden, says: "in the whole cluster"},
		"not in one that is left":              {namespace: "root1", before: []string{"top", "eng"}, after: []string{"eng"}, may: []string{"root1", "eng"}, is: apierrors.IsForbidden, says: "in the whole cluster"},
		"none any more":                        {namespace: "root1", before: []string{"eng"}, may: []string{"root1"}, is: apierrors.IsForbidden, says: "in the whole cluster"},
		"an existing namespace":                {namespace: "root1", after: []string{"eng", "root2"}, may: []string{""}, is: apierrors.IsInvalid, says: "spec.abstractAncestors[1]"},
		"an existing one, allowed":             {namespace: "root1", after: []string{"root2"}, may: []string{""}, shared: true},
		"an existing one, without permissions": {namespace: "root1", after: []string{"root2"}, may: []string{"root1"}, shared: true, is: apierrors.IsForbidden, says: "in the whole cluster"},
		"one that was created later":           {namespace: "root1", before: []string{"root2"}, after: []string{"root2", "eng"}, may: []string{""}},
		"excluded, although allowed":           {namespace: "root1", after: []string{"kube-system"}, may: []string{""}, shared: true, is: apierrors.IsForbidden, says: "excluded"},
		"of a sub-namespace":                   {namespace: "sub", after: []string{"eng"}, may: []string{""}, is: apierrors.IsConflict, says: `sub-namespace of "a"`},
		"of a child that becomes a root by it": {namespace: "c", after: []string{"eng"}, may: []string{""}},
		"of an external namespace": {namespace: "root1", after: []string{"eng"}, may: []string{""}, is: apierrors.IsForbidden, says: `managed by "other"`,
			change: func(t *testing.T, f *fixture) {
				f.edit(t, "root1", func(ns *corev1.Namespace) { ns.Annotations = map[string]string{hnc.AnnotationManagedBy: "other"} })
			}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, forestOfRows)
			for _, in := range row.may {
				f.abstract["user/"+in] = true
			}
			if row.namespace == "sub" {
				f.stored.put(t, "sub", edgeValue{Parent: "a", Subnamespace: uid("a")})
				f.sync(t)
			}
			if row.change != nil {
				row.change(t, f)
			}
			if row.is == nil {
				row.is = func(err error) bool { return err == nil }
			}
			guard, err := f.Abstract.Validate(as(t, "user"), f.existing(t, row.namespace), row.before, row.after, row.shared)
			if !row.is(err) || (err != nil && !strings.Contains(err.Error(), row.says)) {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			if _, ok := guard.Unchanged[row.namespace]; !ok || len(guard.Put)+len(guard.Delete) > 0 {
				t.Errorf("the guard does not just compare the edge of the namespace: %+v", guard)
			}
		})
	}
}

func TestPropagatorRestoresOnlyItsOwnAbstractAncestors(t *testing.T) {
	f := newFixture(t, forestOfRows)
	validate := func(names ...string) error {
		_, err := f.Abstract.Validate(as(t, hnc.PropagatorUser), f.existing(t, "root1"), nil, names, false)
		return err
	}
	f.edit(t, "root1", func(ns *corev1.Namespace) {
		ns.Annotations = map[string]string{hnc.AnnotationAbstractAncestors: "eng.root2"}
	})
	if err := validate("eng", "root2"); err != nil {
		t.Error(err)
	}
	if err := validate("eng"); !apierrors.IsForbidden(err) {
		t.Errorf("others: %v", err)
	}
}

func TestRemovalOfAbstractAncestorsNeedsThePermission(t *testing.T) {
	f := newFixture(t, forestOfRows)
	if _, err := f.Abstract.ValidateRemoval(as(t, "user"), "root1", []string{"eng"}); !apierrors.IsForbidden(err) {
		t.Errorf("without it: %v", err)
	}
	f.abstract["user/"] = true
	if _, err := f.Abstract.ValidateRemoval(as(t, "user"), "root1", []string{"eng"}); err != nil {
		t.Error(err)
	}
}

// A namespace below abstract ancestors is not a child by its annotation, nor by the label of an abstract ancestor.
func TestNamespaceBelowAbstractAncestorsHasNoParent(t *testing.T) {
	f := newFixture(t, map[string]string{"eng": "", "leaf": ""})
	leaf := f.existing(t, "leaf").DeepCopy()
	leaf.Labels = map[string]string{hnc.TreeLabel("leaf"): "0", hnc.TreeLabel("eng"): "1"}
	if !isSubnamespace(leaf, "eng") {
		t.Error("a converted sub-namespace")
	}
	leaf.Annotations = map[string]string{hnc.AnnotationAbstractAncestors: "eng"}
	if isSubnamespace(leaf, "eng") {
		t.Error("a child of its abstract ancestor")
	}
	leaf.Annotations[hnc.AnnotationSubnamespaceOf] = "eng"
	if isSubnamespace(leaf, "eng") {
		t.Error("a child by its annotation")
	}
	f.edit(t, "leaf", func(ns *corev1.Namespace) { ns.Labels, ns.Annotations = leaf.Labels, leaf.Annotations })
	if _, err := f.Claims.Validate(as(t, "user"), "leaf", f.existing(t, "eng")); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "abstract ancestors eng") {
		t.Errorf("claimed: %v", err)
	}
	if _, err := f.Authorizer.AuthorizePropagator(as(t, hnc.PropagatorUser), leaf, "eng", true); !apierrors.IsForbidden(err) {
		t.Errorf("the propagator: %v", err)
	}
}

// The annotation of the root follows its Hierarchy.
func TestLeavingADirectoryBeforeItsAnnotation(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.Authorizer.SetHierarchies(hierarchies(map[string]hnc.HierarchySpec{"root1": {AbstractAncestors: []string{"eng"}}}))
	f.admin["user/root1"] = true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), ""); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "abstract ancestors eng") {
		t.Errorf("got %v", err)
	}
	f.abstract["user/"] = true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), ""); err != nil {
		t.Errorf("with the permission: %v", err)
	}
}

// Annotations lag behind, and a Hierarchy may be that of an earlier namespace.
func TestWhatRecordsOfARootSayAboutItsDirectory(t *testing.T) {
	annotation := func(root string) func(*testing.T, *fixture) {
		return func(t *testing.T, f *fixture) {
			f.edit(t, root, func(ns *corev1.Namespace) { ns.Annotations = map[string]string{hnc.AnnotationAbstractAncestors: "eng"} })
		}
	}
	for name, row := range map[string]struct {
		change func(*testing.T, *fixture)
		// names are the roots whose hierarchies name the directory, and earlier is bound to an earlier namespace.
		names   []string
		earlier string
		want    bool
	}{
		"both name it":                       {names: []string{"root1", "root2"}, want: true},
		"only the old root":                  {names: []string{"root1"}},
		"only the annotation of the old one": {change: annotation("root1")},
		"the new root did before":            {names: []string{"root1"}, change: annotation("root2")},
		"an earlier namespace of the new":    {names: []string{"root1", "root2"}, earlier: "root2"},
		"an earlier namespace of the old":    {names: []string{"root1"}, earlier: "root1", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, forestOfRows)
			f.admin["user/root1"], f.admin["user/y"] = true, true
			f.Authorizer.SetHierarchies(func(ctx context.Context, namespace string) (*hnc.Hierarchy, error) {
				specs := map[string]hnc.HierarchySpec{}
				for _, root := range row.names {
					specs[root] = hnc.HierarchySpec{AbstractAncestors: []string{"eng"}}
				}
				h, err := hierarchies(specs)(ctx, namespace)
				if err == nil && namespace == row.earlier {
					h.OwnerReferences[0].UID = "uid-of-an-earlier-one"
				}
				return h, err
			})
			if row.change != nil {
				row.change(t, f)
			}
			_, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), "y")
			if (row.want && err != nil) || (!row.want && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "abstract ancestors eng"))) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// edit changes a namespace in the cache and in the cluster.
func (f *fixture) edit(t *testing.T, name string, change func(*corev1.Namespace)) {
	t.Helper()
	namespace := f.existing(t, name).DeepCopy()
	change(namespace)
	if err := f.indexer.Update(namespace); err != nil {
		t.Fatal(err)
	}
	if err := f.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("namespaces"), namespace, ""); err != nil {
		t.Fatal(err)
	}
}

func TestMovedNamespacesHaveLabelsOfAbstractAncestors(t *testing.T) {
	f := newFixture(t, map[string]string{"leaf": "", "moved": ""})
	f.Overwrites.SetHierarchies(hierarchies(map[string]hnc.HierarchySpec{"leaf": {AbstractAncestors: []string{"eng", "moved", "top"}}}))
	nodes, chain := []Node{{Name: "moved", Namespace: f.existing(t, "moved")}}, []string{"leaf"}
	for d := range f.Overwrites.movedDestinations(t.Context(), nodes, []string{"moved"}, chain) {
		want := map[string]string{hnc.TreeLabel("moved"): "0", hnc.TreeLabel("leaf"): "1", hnc.TreeLabel("eng"): "2", hnc.TreeLabel("top"): "4",
			hnc.LabelIncludedNamespace: "true", hnc.LabelInTree: "true"}
		if got := d.Labels(d.Namespace); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestNamesOfAbstractAncestorsAreReserved(t *testing.T) {
	f := newFixture(t, map[string]string{"own": ""})
	f.config().IsAbstractAncestor = func(name string) bool { return name == "eng" }
	f.creator["user/subnamespaces/own"] = true
	claim := func(user, name string) error {
		_, err := f.Claims.Validate(as(t, user), name, f.existing(t, "own"))
		return err
	}
	if err := claim("user", "eng"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "metadata.name") || !strings.Contains(err.Error(), "hierarchies/abstract") {
		t.Errorf("without the permission: %v", err)
	}
	if err := claim(hnc.PropagatorUser, "eng"); !apierrors.IsForbidden(err) {
		t.Errorf("the propagator: %v", err)
	}
	if err := f.Claims.ValidateRequired(as(t, "user"), map[int]string{0: "eng"}, f.existing(t, "own")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "spec.requiredChildren[0]") {
		t.Errorf("required: %v", err)
	}
	if err := claim("user", "other"); err != nil {
		t.Errorf("another name: %v", err)
	}
	f.abstract["user/eng"] = true
	if err := claim("user", "eng"); err != nil {
		t.Errorf("with the permission: %v", err)
	}
}
