package treerules

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// storedSubnamespaces are the stored ones, by name.
type storedSubnamespaces map[string]*hnc.Subnamespace

func (s storedSubnamespaces) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if found, ok := s[name]; ok && found.Namespace == genericapirequest.NamespaceValue(ctx) {
		return found, nil
	}
	return nil, apierrors.NewNotFound(hnc.Resource("subnamespaces"), name)
}

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
			err := f.Claims.ValidateDeletion(t.Context(), "sub", f.existing(t, "a"), hierarchies, storedSubnamespaces{})
			if row.want && err != nil {
				t.Error(err)
			}
			if !row.want && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "allowCascadingDeletion")) {
				t.Errorf("got %v, want Forbidden", err)
			}
		})
	}
}

// What the propagator would not delete along with the namespace must not be admitted, and the reverse.
func TestDeletionIsAllowedByTheRuleOfThePropagator(t *testing.T) {
	labeled := func(ns *corev1.Namespace) {
		ns.Labels = map[string]string{hnc.LabelCascadingDeletion: hnc.CascadingAllowed}
	}
	terminating := func(ns *corev1.Namespace) {
		ns.DeletionTimestamp, ns.Finalizers = &metav1.Time{Time: time.Now()}, []string{"x"}
	}
	allow := hnc.HierarchySpec{AllowCascadingDeletion: ptr.To(true)}
	boundTo := func(uid types.UID) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "r", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "r", UID: uid}}}
	}
	for name, row := range map[string]struct {
		root   func(*corev1.Namespace)
		stored *hnc.Hierarchy
		want   bool
	}{
		"by its Hierarchy":                   {func(*corev1.Namespace) {}, &hnc.Hierarchy{ObjectMeta: boundTo(uid("r")), Spec: allow}, true},
		"by that of an earlier namespace":    {func(*corev1.Namespace) {}, &hnc.Hierarchy{ObjectMeta: boundTo("earlier"), Spec: allow}, false},
		"recorded, and it terminates":        {func(ns *corev1.Namespace) { labeled(ns); terminating(ns) }, nil, true},
		"it terminates":                      {terminating, nil, false},
		"labeled, and it does not":           {labeled, nil, false},
		"recorded, and its Hierarchy denies": {func(ns *corev1.Namespace) { labeled(ns); terminating(ns) }, &hnc.Hierarchy{ObjectMeta: boundTo(uid("r"))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, map[string]string{"r": "", "a": "r", "sub": "a", "b": "sub"})
			f.edit(t, "r", row.root)
			hierarchies := func(_ context.Context, namespace string) (*hnc.Hierarchy, error) {
				if namespace != "r" || row.stored == nil {
					return nil, apierrors.NewNotFound(hnc.Resource("hierarchies"), hnc.Singleton)
				}
				return row.stored, nil
			}
			err := f.Claims.ValidateDeletion(t.Context(), "sub", f.existing(t, "a"), hierarchies, storedSubnamespaces{})
			if row.want != (err == nil) || err != nil && !apierrors.IsForbidden(err) {
				t.Errorf("got %v, want it allowed: %t", err, row.want)
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
	if err := f.Claims.ValidateDeletion(t.Context(), "sub", f.existing(t, "a"), hierarchies, storedSubnamespaces{}); err != nil {
		t.Error(err)
	}
}

// The objects of a child, which hold its edge, are there a little longer than its namespace.
func TestDeletionIgnoresAChildThatGoes(t *testing.T) {
	now := &metav1.Time{Time: time.Now()}
	const remains, isDeleted, isGone = "remains", "is being deleted", "is gone"
	for _, row := range []struct {
		namespace, subnamespace string
		want                    bool
	}{
		{remains, isDeleted, false},
		{isDeleted, isDeleted, true},
		{isDeleted, isGone, true},
		{isGone, isDeleted, true},
		{isGone, isGone, true},
		// The namespace is going to be created (again).
		{isDeleted, remains, false},
		{isGone, remains, false},
	} {
		t.Run("namespace "+row.namespace+", Subnamespace "+row.subnamespace, func(t *testing.T) {
			f := newFixture(t, map[string]string{"a": "", "sub": "a", "b": "sub"})
			f.stored.put(t, "b", edgeValue{Parent: "sub", Subnamespace: uid("sub")})
			f.sync(t)
			child := f.existing(t, "b").DeepCopy()
			switch row.namespace {
			case isDeleted:
				child.DeletionTimestamp = now
				if err := errors.Join(f.indexer.Update(child), f.client.Tracker().Update(namespaces, child, "")); err != nil {
					t.Fatal(err)
				}
			case isGone:
				if err := errors.Join(f.indexer.Delete(child), f.client.CoreV1().Namespaces().Delete(t.Context(), "b", metav1.DeleteOptions{})); err != nil {
					t.Fatal(err)
				}
			}
			stored := storedSubnamespaces{"b": {ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "sub"}}}
			switch row.subnamespace {
			case isDeleted:
				stored["b"].DeletionTimestamp = now
			case isGone:
				delete(stored, "b")
			}
			hierarchies := func(context.Context, string) (*hnc.Hierarchy, error) {
				return nil, apierrors.NewNotFound(hnc.Resource("hierarchies"), hnc.Singleton)
			}
			err := f.Claims.ValidateDeletion(t.Context(), "sub", f.existing(t, "a"), hierarchies, stored)
			if row.want && err != nil {
				t.Error(err)
			}
			if !row.want && !apierrors.IsForbidden(err) {
				t.Errorf("got %v, want Forbidden", err)
			}
		})
	}
}
