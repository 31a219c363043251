package treerules

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sourceindex"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

func TestPropagationNeedsAPermissionInTheRoot(t *testing.T) {
	for _, row := range []struct {
		name, namespace, parent string
		deleted                 bool
		root                    string
	}{
		{"in a root", "root1", "", false, "root1"},
		{"in a child", "c", "b", false, "root1"},
		{"in a child that comes from another tree", "c", "y", false, "root2"},
		{"in a child that becomes a root", "c", "", false, "c"},
		{"in a root that becomes a child", "root2", "b", false, "root1"},
		{"in a sub-namespace", "sub", "a", false, "root1"},
		{"in a sub-namespace whose Hierarchy names no parent", "sub", "", false, "root1"},
		{"in an orphan, where there is no root to have permissions in", "orphan", "gone", false, "gone"},
		{"in a hierarchy that is deleted, and leaves a root", "c", "", true, "c"},
		{"in the deleted hierarchy of a sub-namespace", "sub", "", true, "root1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			authorize := func(f *fixture) (*fence.Guard, error) {
				if row.deleted {
					return f.Authorizer.AuthorizePropagationRemoval(as(t, "user"), row.namespace)
				}
				return f.Authorizer.AuthorizePropagation(as(t, "user"), row.namespace, row.parent)
			}
			f := newFixture(t, forestOfRows)
			f.propagation["user/"+row.root] = true
			guard, err := authorize(f)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := guard.Unchanged[row.root]; !ok || len(guard.Put)+len(guard.Delete) > 0 {
				t.Errorf("the edge of the root is not fenced alone: %+v", guard)
			}
			f = newFixture(t, forestOfRows)
			for name := range forestOfRows {
				f.admin["user/"+name] = true
				f.propagation["user/"+name] = name != row.root
			}
			_, err = authorize(f)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `update on hierarchies/propagation.hnc.x-k8s.io in namespace "`+row.root+`"`) {
				t.Errorf("without it: %v", err)
			}
			if row.deleted {
				return
			}
			as := as(t, hnc.PropagatorUser)
			if _, err := f.Authorizer.AuthorizePropagation(as, row.namespace, row.parent); err != nil {
				t.Errorf("the propagator: %v", err)
			}
		})
	}
}

func TestPropagationRemovalFromATerminatingNamespaceNeedsNoPermission(t *testing.T) {
	f := newFixture(t, forestOfRows)
	live := f.existing(t, "c").DeepCopy()
	now := metav1.Now()
	live.DeletionTimestamp, live.Finalizers = &now, []string{"kubernetes"}
	// The cache is stale.
	if err := f.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("namespaces"), live, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Authorizer.AuthorizePropagationRemoval(as(t, "user"), "c"); err != nil {
		t.Error(err)
	}
	if _, err := f.Authorizer.AuthorizePropagation(as(t, "user"), "c", "b"); !apierrors.IsForbidden(err) {
		t.Errorf("a change: %v", err)
	}
}

// Whoever moves a namespace above a hierarchy that sets spec.propagation brings it into the other tree.
func TestSubtreesDoNotBringPropagationWithoutThePermission(t *testing.T) {
	belowM := func(name string) func(*testing.T, *fixture) error {
		return func(t *testing.T, f *fixture) error {
			_, err := f.Moves.Validate(as(t, "user"), f.existing(t, name), "m")
			return err
		}
	}
	for name, row := range map[string]struct {
		forest map[string]string
		sets   string
		move   func(*testing.T, *fixture) error
		needs  string // the root of the tree that the subtree joins, or "" if it needs no permission
	}{
		"a root that moves": {
			map[string]string{"root": "", "m": "root", "top": "", "mid": "top", "leaf": "mid"}, "leaf",
			belowM("top"), "root",
		},
		"a part of another tree": {
			map[string]string{"root": "", "m": "root", "top": "", "mid": "top", "leaf": "mid"}, "leaf",
			belowM("mid"), "root",
		},
		"a part of another tree, below which nothing sets it": {
			map[string]string{"root": "", "m": "root", "top": "", "mid": "top", "leaf": "mid"}, "top",
			belowM("mid"), "",
		},
		"within a tree": {
			map[string]string{"root": "", "m": "root", "mid": "root", "leaf": "mid"}, "leaf",
			belowM("mid"), "",
		},
		"a namespace that a Subnamespace claims": {
			map[string]string{"root": "", "m": "root", "top": "", "leaf": "top"}, "leaf",
			func(t *testing.T, f *fixture) error {
				f.change(t, "top", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "m"}, true)
				_, err := f.Claims.Validate(as(t, "user"), "top", f.existing(t, "m"))
				return err
			}, "root",
		},
		"an orphan whose parent is created": {
			map[string]string{"root": "", "m": "root", "top": "gone", "leaf": "top"}, "leaf",
			func(t *testing.T, f *fixture) error {
				_, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "m"))
				return err
			}, "root",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, permitted := range []bool{true, false} {
				f := newFixture(t, row.forest)
				f.config().Sources = &conflicting{modes: sourceindex.Modes{Trees: map[string][]hnc.ResourceSpec{row.sets: {{Resource: "secrets"}}}}}
				for namespace := range row.forest {
					f.admin["user/"+namespace], f.propagation["user/"+namespace] = true, permitted || namespace != row.needs
				}
				err := row.move(t, f)
				switch rejected := row.needs != "" && !permitted; {
				case !rejected && err != nil:
					t.Errorf("permitted: %t: %v", permitted, err)
				case rejected && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `: spec.propagation of namespace "leaf": user "user" may not change what is propagated in the tree of namespace "root"`)):
					t.Errorf("without the permission: got %v", err)
				}
				f.config().Sources.(*conflicting).unread = true
				if err := row.move(t, f); err == nil && name != "within a tree" {
					t.Error("allowed before the hierarchies have been read")
				}
			}
		})
	}
}

// A hierarchy below may set spec.propagation in the moment before the commit, or through a replica that others lag
// behind.
func TestAMoveComparesWhatHierarchiesBelowPropagate(t *testing.T) {
	forest := map[string]string{"root": "", "m": "root", "top": "", "mid": "top", "leaf": "mid"}
	newMove := func(trees map[string][]hnc.ResourceSpec) (*fixture, *conflicting) {
		f, s := newFixture(t, forest), &conflicting{modes: sourceindex.Modes{Trees: trees}, read: 5}
		f.config().Sources = s
		for namespace := range forest {
			f.admin["user/"+namespace], f.propagation["user/"+namespace] = true, true
		}
		return f, s
	}
	validate := func(f *fixture) (*fence.Guard, error) {
		return f.Moves.Validate(as(t, "user"), f.existing(t, "top"), "m")
	}

	f, s := newMove(nil)
	guard, err := f.Authorizer.AuthorizePropagation(as(t, "user"), "leaf", "mid")
	if want := []string{"leaf/propagation", "mid/propagation", "top/propagation"}; err != nil || !slices.Equal(guard.Mark, want) {
		t.Errorf("a hierarchy marks %v, want %v (%v)", guard.Mark, want, err)
	}
	f.marks["top/propagation"] = 5
	if guard, err = validate(f); err != nil || guard.Unmarked["top/propagation"] != 5 || slices.Contains(guard.Mark, "root/propagation") {
		t.Errorf("a move compares %v and marks %v (%v)", guard.Unmarked, guard.Mark, err)
	}
	s.read = 4
	if _, err := validate(f); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("before the hierarchies have been read: %v", err)
	}

	// Who moves m has to see what has come there.
	f, _ = newMove(map[string][]hnc.ResourceSpec{"leaf": {{Resource: "secrets"}}})
	if guard, err = validate(f); err != nil || !slices.Contains(guard.Mark, "m/propagation") || !slices.Contains(guard.Mark, "root/propagation") {
		t.Errorf("a move with what is propagated marks %v (%v)", guard.Mark, err)
	}
}
