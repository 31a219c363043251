package tree

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestDeletable(t *testing.T) {
	notFound := apierrors.NewNotFound(hnc.Resource("hierarchies"), hnc.Singleton)
	for _, row := range []struct {
		name      string
		parents   map[string]string
		cascading string
		want      bool
	}{
		{"A6 a leaf", map[string]string{"a": "", "sub": "a"}, "", true},
		{"A6 with a child", map[string]string{"a": "", "sub": "a", "b": "sub"}, "", false},
		{"A6 with a child, allowed here", map[string]string{"a": "", "sub": "a", "b": "sub"}, "sub", true},
		{"A6 with a child, allowed above", map[string]string{"r": "", "a": "r", "sub": "a", "b": "sub"}, "r", true},
		{"A6 with a child, allowed below only", map[string]string{"a": "", "sub": "a", "b": "sub"}, "b", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, row.parents)
			hierarchies := func(_ context.Context, namespace string) (*hnc.Hierarchy, error) {
				if namespace != row.cascading {
					return nil, notFound
				}
				return &hnc.Hierarchy{Spec: hnc.HierarchySpec{AllowCascadingDeletion: ptr.To(true)}}, nil
			}
			err := f.Claims.ValidateDeletion(t.Context(), "sub", f.existing(t, "a"), hierarchies)
			if row.want && err != nil {
				t.Error(err)
			}
			if !row.want && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "allowCascadingDeletion")) {
				t.Errorf("got %v, want Forbidden", err)
			}
		})
	}
}

func TestDeletionIgnoresAChildThatHasLeft(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "sub": "a", "b": "sub"})
	delete(f.stored, "b") // the index is stale
	hierarchies := func(context.Context, string) (*hnc.Hierarchy, error) {
		return nil, apierrors.NewNotFound(hnc.Resource("hierarchies"), hnc.Singleton)
	}
	if err := f.Claims.ValidateDeletion(t.Context(), "sub", f.existing(t, "a"), hierarchies); err != nil {
		t.Error(err)
	}
}

// The Subnamespace of a child is there a little longer than its namespace, and holds the edge.
func TestDeletionIgnoresAChildThatIsGone(t *testing.T) {
	hierarchies := func(context.Context, string) (*hnc.Hierarchy, error) {
		return nil, apierrors.NewNotFound(hnc.Resource("hierarchies"), hnc.Singleton)
	}
	t.Run("gone", func(t *testing.T) {
		f := newFixture(t, map[string]string{"a": "", "sub": "a"})
		f.stored.put(t, "subgone", edgeValue{Parent: "sub", Subnamespace: uid("sub")})
		f.sync(t)
		if err := f.Claims.ValidateDeletion(t.Context(), "sub", f.existing(t, "a"), hierarchies); err != nil {
			t.Error(err)
		}
	})
	t.Run("being deleted", func(t *testing.T) {
		f := newFixture(t, map[string]string{"a": "", "sub": "a", "b": "sub"})
		child := f.existing(t, "b").DeepCopy()
		child.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		if err := f.indexer.Update(child); err != nil {
			t.Fatal(err)
		}
		if err := f.Claims.ValidateDeletion(t.Context(), "sub", f.existing(t, "a"), hierarchies); err != nil {
			t.Error(err)
		}
	})
}
