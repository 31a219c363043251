package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	metadatafake "k8s.io/client-go/metadata/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// ns returns the metadata of a namespace with its ancestors, itself first.
func ns(name, uid string, chain ...string) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), Labels: map[string]string{}, Annotations: map[string]string{}},
	}
	for depth, ancestor := range append([]string{name}, chain...) {
		o.Labels[hnc.TreeLabel(ancestor)] = string(rune('0' + depth))
	}
	return o
}

// newTree returns a tree that can look up the namespaces.
func newTree(t *testing.T, stored ...runtime.Object) *Tree {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return NewTree(metadatafake.NewSimpleMetadataClient(scheme, stored...).Resource(namespaces))
}

func TestMembersAreTheSubtree(t *testing.T) {
	tree := newTree(t)
	sub := ns("a-dev", "3", "a")
	sub.Annotations[hnc.AnnotationSubnamespaceOf] = "a"
	below := ns("other", "4", "x")
	below.Labels[hnc.TreeLabel("a")] = "2"
	below.Annotations[hnc.AnnotationAbstractAncestors] = "a" // only of that name
	for _, o := range []*metav1.PartialObjectMetadata{ns("a", "1"), ns("b", "2"), sub, below} {
		tree.set(o)
	}
	in := members{tree, "a"}
	for name, want := range map[string]bool{"a": true, "a-dev": true, "b": false, "other": false, "missing": false} {
		if _, got := in.Has(name); got != want {
			t.Errorf("Has(%q) is %t", name, got)
		}
		got, err := in.Get(t.Context(), name)
		if err != nil || (got != nil) != want {
			t.Errorf("Get(%q): %v, %v", name, got, err)
		}
	}
	got, err := in.Get(t.Context(), "a-dev")
	if err != nil || got.Parent != "a" || !got.Subnamespace || got.Deleting {
		t.Errorf("got %+v, %v", got, err)
	}
	sub.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	tree.set(sub)
	if got, err := in.Get(t.Context(), "a-dev"); err != nil || !got.Deleting {
		t.Errorf("got %+v, %v while it is being deleted", got, err)
	}
}

// The client puts a name into a path as it is.
func TestOnlyNamesOfNamespacesAreRequested(t *testing.T) {
	for _, name := range []string{"../../../openapi/v2", "a/b", "a?watch=true", ""} {
		if got, err := (members{&Tree{}, "a"}).Get(t.Context(), name); got != nil || err != nil {
			t.Errorf("%q: got %v, %v", name, got, err)
		}
	}
}

// The annotation of a parent does not count on a namespace that another tool manages (docs/spec/hnc.md 0.1).
func TestMembersAreSubnamespacesByTheirAnnotations(t *testing.T) {
	for _, test := range []struct {
		of, managedBy string
		want          bool
	}{
		{"a", "", true}, {"a", hnc.GroupName, true}, {"a", "other", false}, {"b", "", false}, {"", "", false},
	} {
		tree, o := newTree(t), ns("a-dev", "1", "a")
		o.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: test.of, hnc.AnnotationManagedBy: test.managedBy}
		trimmed, err := Trim(o)
		if err != nil {
			t.Fatal(err)
		}
		tree.set(trimmed.(*metav1.PartialObjectMetadata))
		if got, err := (members{tree, "a"}).Get(t.Context(), "a-dev"); err != nil || got == nil || got.Subnamespace != test.want {
			t.Errorf("of %q, managed by %q: got %+v, %v", test.of, test.managedBy, got, err)
		}
	}
}

// Others' labels can have 64 KiB on each namespace.
func TestOnlyTreeLabelsAreKept(t *testing.T) {
	o := ns("a-dev", "1", "a")
	of := len(o.Labels)
	o.Labels["any"] = "value"
	if _, err := Trim(o); err != nil || len(o.Labels) != of || o.Labels[hnc.TreeLabel("a")] == "" {
		t.Errorf("got %v, %v", o.Labels, err)
	}
}

func TestPresenceEndsWithMembership(t *testing.T) {
	for name, leave := range map[string]func(*Tree){
		"moved":                  func(tree *Tree) { tree.set(ns("c", "1", "b")) },
		"deleted":                func(tree *Tree) { tree.remove("c") },
		"deleted, created again": func(tree *Tree) { tree.set(ns("c", "2", "a")) },
	} {
		t.Run(name, func(t *testing.T) {
			tree := newTree(t)
			tree.set(ns("c", "1", "a"))
			member, err := members{tree, "a"}.Get(t.Context(), "c")
			if err != nil || member == nil || member.Present.Err() != nil {
				t.Fatalf("got %+v, %v", member, err)
			}
			own, err := members{tree, "c"}.Get(t.Context(), "c")
			if err != nil {
				t.Fatal(err)
			}
			leave(tree)
			if member.Present.Err() == nil {
				t.Error("it is still present in the view of a")
			}
			if stays := name == "moved"; (own.Present.Err() == nil) != stays {
				t.Errorf("presence in its own view: %v", own.Present.Err())
			}
		})
	}
}

// A replica must serve what another one has created, before its own watch shows it.
func TestANamespaceThatTheWatchHasNotShownIsWaitedFor(t *testing.T) {
	tree := newTree(t, ns("c", "1", "a"))
	time.AfterFunc(50*time.Millisecond, func() { tree.set(ns("c", "1", "a")) })
	if got, err := (members{tree, "a"}).Get(t.Context(), "c"); err != nil || got == nil {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := (members{tree, "b"}).Get(t.Context(), "c"); err != nil || got != nil {
		t.Errorf("in another view: got %v, %v", got, err)
	}
	late := newTree(t, ns("c", "1", "a"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := (members{late, "a"}).Get(ctx, "c"); err == nil {
		t.Errorf("a namespace that the watch does not show: got %v", got)
	}
}

func TestAViewIsToldWhoJoinsAndLeaves(t *testing.T) {
	tree := newTree(t)
	var changed []string
	in := members{tree, "a"}
	in.OnChange(func(name string) {
		_, is := in.Has(name)
		changed = append(changed, fmt.Sprint(name, " ", is))
	})
	tree.set(ns("b", "1", "x"))
	tree.set(ns("c", "2", "a"))
	tree.set(ns("c", "2", "b", "a"))
	tree.set(ns("c", "2", "x"))
	tree.set(ns("d", "3", "a"))
	tree.remove("d")
	tree.remove("b")
	tree.set(ns("e", "4", "a"))
	tree.set(ns("e", "5", "a")) // deleted and created again while the watch was lost
	tree.set(ns("e", "5", "a"))
	tree.set(ns("b", "6", "x"))
	if want := []string{"c true", "c false", "d true", "d false", "e true", "e true"}; !slices.Equal(changed, want) {
		t.Errorf("got %v, want %v", changed, want)
	}
}

// Admins of namespaces can write annotations of 256 KiB.
func TestLongAnnotationsAreNotKept(t *testing.T) {
	for _, key := range []string{hnc.AnnotationManagedBy, hnc.AnnotationSubnamespaceOf} {
		o := ns("a-dev", "1", "a")
		o.Annotations = map[string]string{key: strings.Repeat("x", 256<<10)}
		if _, err := Trim(o); err != nil {
			t.Fatal(err)
		}
		for _, kept := range o.Annotations {
			if len(kept) > 253 {
				t.Errorf("%s: %d bytes are kept", key, len(kept))
			}
		}
	}
}
