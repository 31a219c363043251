package cli

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

// A sub-namespace that has been created again under its name is not the one that was to be deleted.
func TestADeletionIsOfTheSubnamespaceOfThePlan(t *testing.T) {
	clients, client := clientsOf(t, metav1.ObjectMeta{
		Name: "team-a", Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "acme"},
		Labels: map[string]string{hnc.TreeLabel("team-a"): "0", hnc.TreeLabel("acme"): "1"},
	})
	var options metav1.DeleteOptions
	client.PrependReactor("delete", "subnamespaces", func(action clienttesting.Action) (bool, runtime.Object, error) {
		options = action.(clienttesting.DeleteActionImpl).DeleteOptions
		return true, nil, nil
	})
	r := &uiReader{clients: clients}
	if err := r.Apply(t.Context(), "team-a", ui.Change{Kind: ui.ChangeDelete, Confirm: "team-a"}, "planned"); err != nil {
		t.Fatal(err)
	}
	if options.Preconditions == nil || *options.Preconditions.UID != "planned" {
		t.Errorf("the deletion has the options %v", options)
	}
}

func TestObjectsBehindTheEndOfAListAreNotMissing(t *testing.T) {
	list := func(more string, names ...string) *metav1.PartialObjectMetadataList {
		l := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: more}}
		for _, name := range names {
			l.Items = append(l.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return l
	}
	chain := []origin.Namespace{{Name: "team-a"}, {Name: "secret"}, {Name: "acme"}}
	for more, want := range map[string]string{"": "a:Absent b:Local c:Absent", "more": "a:Absent b:Local"} {
		var got []string
		for _, o := range objectsIn(chain, []*metav1.PartialObjectMetadataList{list(more, "b"), nil, list("", "a", "c")}) {
			got = append(got, o.Name+":"+string(o.State))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("with continue %q: %s, want %s", more, text, want)
		}
	}
	long := objectsIn(chain, []*metav1.PartialObjectMetadataList{list("", strings.Repeat("x", 700_000)), nil, nil})
	if len(long) != 1 || len(long[0].Name) != names.MaxLength {
		t.Errorf("%d objects; a long name has %d bytes", len(long), len(long[0].Name))
	}
}

func TestChildrenWithoutPermissionForSubnamespaces(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "subnamespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(`User "u" cannot list resource "subnamespaces" in API group "hnc.x-k8s.io" in the namespace "acme"`))
	})
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "acme"}, Status: v1beta1.HierarchyStatus{Children: []string{"team-a"}}}
	children, note, err := (&uiReader{clients: &Clients{Hierarchy: client}}).children(t.Context(), h)
	if err != nil || len(children) != 1 || !strings.Contains(note, "missing permission: list subnamespaces.hnc.x-k8s.io in namespace acme") {
		t.Errorf("children %v, note %q, error %v", children, note, err)
	}
}
