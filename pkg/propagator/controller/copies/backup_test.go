package copies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// If both wrote, the one that fails would discard the only record of the content.
func TestAnObjectIsOverwrittenByOneWriteAtATime(t *testing.T) {
	c := newController()
	track(t, c, copies.Kinds...)
	w := copies.Write{Verb: copies.Update, Kind: copies.Roles, Namespace: "leaf", Name: "role", Source: copies.NewSource(&metav1.PartialObjectMetadata{}, copies.Roles, &copies.Rules{}), Present: &copies.Object{}}
	done, err := c.backups.begin(w)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(t.Context(), c.slots, 0, w); !errors.Is(err, outcome.ErrStale) {
		t.Errorf("while another write overwrites it: got %v", err)
	}
	other := w
	other.Namespace = "another"
	otherDone, err := c.backups.begin(other)
	if err != nil {
		t.Errorf("another object: %v", err)
	}
	otherDone()
	done()
	if _, err := c.backups.begin(w); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// The write of a request that fails may have been made.
func TestRecordIsDiscardedOnlyIfTheObjectWasNotOverwritten(t *testing.T) {
	local := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "leaf", "uid": "old"}}
	anew := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "leaf", "uid": "new"}}
	copied := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": "settings", "namespace": "leaf", "labels": map[string]any{hnc.LabelInheritedFrom: "root"}}}
	terminating := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": "settings", "namespace": "leaf", "deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": []any{"example.com/x"}}}
	refused := errors.New("refused")
	halfway := fmt.Errorf("later: %w", copies.ReplaceError{})
	kind := copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
	w := copies.Write{Verb: copies.Update, Kind: kind, Namespace: "leaf", Name: "settings", Present: &copies.Object{UID: "old"}}
	for name, test := range map[string]struct {
		live   map[string]any
		unread bool
		err    error
		stays  bool
	}{
		"not overwritten":                 {live: local, err: refused},
		"deleted":                         {err: refused},
		"overwritten":                     {live: copied, err: refused, stays: true},
		"cannot be read":                  {live: local, unread: true, err: refused, stays: true},
		"replaced halfway":                {err: halfway, stays: true},
		"replaced, and created by others": {live: anew, err: halfway, stays: true},
		"replaced, but finalizers stay":   {live: terminating, err: halfway, stays: true},
		"not replaced, and still there":   {live: local, err: halfway},
		"not replaced, and being deleted": {live: terminating, err: refused},
	} {
		t.Run(name, func(t *testing.T) {
			record := &v1alpha3.OverwrittenObject{ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: "configmaps:settings", UID: "u"}}
			hierarchy := fake.NewClientset(record)
			var present []runtime.Object
			if test.live != nil {
				present = append(present, &unstructured.Unstructured{Object: test.live})
			}
			objects := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), present...)
			if test.unread {
				objects.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, errors.New("unavailable")
				})
			}
			newBackups(hierarchy, objects).discard(t.Context(), w, backup{created: record}, test.err)
			_, err := hierarchy.HncV1alpha3().OverwrittenObjects("leaf").Get(t.Context(), record.Name, metav1.GetOptions{})
			if stays := err == nil; stays != test.stays {
				t.Errorf("the record stays: %t (%v), want %t", stays, err, test.stays)
			}
		})
	}
}

// rejecting is a client that rejects updates.
type rejecting struct {
	copies.Client
	err error
}

func (r rejecting) TryUpdate(context.Context, copies.Kind, string, string, []byte) error {
	return r.err
}

// A new record replaces the earlier one and evicts others, which the rate of the tree may not let us restore.
func TestARejectedOverwriteMakesNoRecord(t *testing.T) {
	below := &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: hnc.Singleton, ResourceVersion: "1"}, Spec: v1beta1.HierarchySpec{Parent: "root"},
	}
	c, hierarchy := newController(), fake.NewClientset(below)
	c.backups, c.events, c.Hierarchy = newBackups(hierarchy, nil), eventRecorder{record.NewFakeRecorder(10)}, hierarchy
	for _, name := range []string{"root", "leaf"} {
		c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}})
	}
	c.Cache.ObserveHierarchy(below)
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("denied by a policy"))
	c.Client = rejecting{err: denied}
	kind := copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
	track(t, c, kind)
	source, err := copies.NewObject(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "root"}}}, &copies.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	w := copies.Write{
		Verb: copies.Update, Kind: kind, Namespace: "leaf", Name: "settings", Source: source, Present: &copies.Object{Namespace: "leaf", Name: "settings"},
	}
	if err := c.write(t.Context(), c.slots, 0, w); !errors.Is(err, denied) {
		t.Errorf("got %v", err)
	}
	for _, action := range hierarchy.Actions() {
		if action.GetVerb() != "get" {
			t.Errorf("got %v", action)
		}
	}
}

// A tenant who keeps changing an object would erase the record of what was overwritten before.
func TestEarlierRecordIsRestored(t *testing.T) {
	t.Run("restored", func(t *testing.T) { testEarlierRecord(t, nil, "first") })
	// The rate of a tree, for example, refuses it.
	t.Run("refused", func(t *testing.T) {
		testEarlierRecord(t, apierrors.NewForbidden(schema.GroupResource{Resource: "overwrittenobjects"}, "configmaps:settings", errors.New("too many")), "")
	})
}

// testEarlierRecord has the record of an object, which has an earlier one, discarded. Restoring that ends with refused;
// want is the manifest of the record that remains.
func testEarlierRecord(t *testing.T, refused error, want string) {
	t.Helper()
	content := func(value string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "leaf", "resourceVersion": "7"},
			"data": map[string]any{"key": value}}
	}
	kind := copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
	w := copies.Write{
		Verb: copies.Update, Kind: kind, Namespace: "leaf", Name: "settings", Present: &copies.Object{ResourceVersion: "7"},
		Source: copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "root"}}, kind, &copies.Rules{}),
	}
	record := &v1alpha3.OverwrittenObject{
		ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: "configmaps:settings", UID: "u"},
		Spec:       v1alpha3.OverwrittenObjectSpec{Resource: "configmaps", Name: "settings", Source: "above", Manifest: "first"},
	}
	hierarchy, created := fake.NewClientset(), 0
	hierarchy.PrependReactor("*", "overwrittenobjects", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch action := action.(type) {
		case clienttesting.CreateAction: // The server replaces a record of the same name.
			if created++; created == 2 && refused != nil {
				return true, nil, refused
			}
			record = action.GetObject().(*v1alpha3.OverwrittenObject).DeepCopy()
			record.Namespace = "leaf"
		case clienttesting.DeleteAction:
			record.Spec.Manifest = ""
		}
		return true, record, nil
	})
	b := newBackups(hierarchy, dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), &unstructured.Unstructured{Object: content("second")}))
	kept, err := b.add(t.Context(), w)
	if err != nil || !strings.Contains(record.Spec.Manifest, "second") {
		t.Fatalf("got %+v, %v", kept, err)
	}
	b.discard(t.Context(), w, kept, errors.New("conflict"))
	if got := record.Spec.Manifest; got != want {
		t.Errorf("the record has %q", got)
	}
}
