package repo

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/writer"
)

// While the question is open, others delete and replace objects, and use namespaces.
func TestTheClusterIsReadAgainAfterTheAnswer(t *testing.T) {
	applied := func(namespace, name string, uid types.UID) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: uid, ResourceVersion: "1", Labels: map[string]string{hnc.LabelRepositorySync: "policy"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: cluster.Manager("policy"), Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1("{}")}},
		}}
	}
	lists := map[string][]metav1.PartialObjectMetadata{
		"/api/v1/namespaces":                 {applied("", "empty", "1"), applied("", "used", "2")},
		"/api/v1/configmaps":                 {applied("shop", "same", "3"), applied("shop", "replaced", "other")},
		"/api/v1/namespaces/used/configmaps": {{ObjectMeta: metav1.ObjectMeta{Namespace: "used", Name: "new"}}},
	}
	verbs := metav1.Verbs{"list", "delete"}
	discovery := map[string]any{
		"/api": metav1.APIVersions{Versions: []string{"v1"}}, "/apis": metav1.APIGroupList{},
		"/api/v1": metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "namespaces", Kind: "Namespace", Verbs: verbs}, {Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: verbs},
			{Name: "persistentvolumes", Kind: "PersistentVolume", Verbs: verbs},
		}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, found := discovery[r.URL.Path]
		switch {
		case r.URL.Path == "/api/v1/persistentvolumes":
			w.WriteHeader(http.StatusForbidden)
			answer = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: "denied"}
		case !found:
			list := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}}
			if !strings.Contains(r.URL.Query().Get("labelSelector"), hnc.LabelTreeSuffix) {
				list.Items = lists[r.URL.Path]
			}
			answer = list
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	id := func(kind, namespace, name string) plan.ID {
		return plan.ID{Kind: schema.GroupKind{Kind: kind}, Namespace: namespace, Name: name}
	}
	same, replaced, gone := id("ConfigMap", "shop", "same"), id("ConfigMap", "shop", "replaced"), id("ConfigMap", "shop", "gone")
	unread, empty, used := id("PersistentVolume", "", "unread"), id("Namespace", "", "empty"), id("Namespace", "", "used")
	shown := &plan.Plan{Delete: []plan.ID{same, replaced, gone, unread}, DeleteNamespaces: []plan.ID{empty, used}}
	before := &plan.State{Live: map[plan.ID]plan.Live{
		same: {UID: "3"}, replaced: {UID: "4"}, gone: {UID: "5"}, unread: {UID: "6"}, empty: {UID: "1"}, used: {UID: "2"},
	}}

	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	o := &repoApplyOptions{IOStreams: streams, prune: true}
	target := &target{name: "policy", config: &rest.Config{Host: server.URL}, syncs: fake.NewSimpleClientset().HncV1alpha3().RepositorySyncs()}
	done := &applyResults{options: o, target: target, before: before, line: cli.NewProgress(errOut)}
	w := &writer.Writer{}
	p, err := o.recheck(t.Context(), target, w, shown, done)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Delete, []plan.ID{same}) || !slices.Equal(p.DeleteNamespaces, []plan.ID{empty}) || w.Cluster != target.cluster {
		t.Errorf("got the deletions %v and %v", p.Delete, p.DeleteNamespaces)
	}
	var kept []string
	for _, r := range done.results {
		message, _, _ := strings.Cut(r.Message, " since")
		if r.id == used {
			message = "in use"
		}
		kept = append(kept, r.Result+" "+r.id.String()+": "+message)
	}
	slices.Sort(kept)
	want := []string{
		"kept " + replaced.String() + ": others have replaced or changed it", "kept " + gone.String() + ": others have deleted or released it",
		"kept " + unread.String() + ": it cannot be read any more", "kept " + used.String() + ": in use",
	}
	slices.Sort(want)
	if !slices.Equal(kept, want) {
		t.Errorf("got %q, want %q", kept, want)
	}
	warning := "objects of this kind that have left the repository are not known"
	if strings.Count(errOut.String(), warning) != 1 {
		t.Errorf("got %s", errOut)
	}
	if _, err := o.recheck(t.Context(), target, w, shown, done); err != nil || strings.Count(errOut.String(), warning) != 1 {
		t.Errorf("the warning is repeated, or %v: %s", err, errOut)
	}
}

// What is kept may be what was to be revoked.
func TestKeptObjectsAreNoSuccess(t *testing.T) {
	id := plan.ID{Kind: schema.GroupKind{Kind: "Namespace"}, Name: "shop"}
	for name, test := range map[string]struct {
		kept, failed error
		text         string
		want         error
	}{
		"success":         {nil, nil, "deleted: 1, released: 0, kept: 0, failed: 0\n", nil},
		"kept":            {errors.New("in use"), nil, "deleted: 1, released: 0, kept: 1, failed: 0\n", cli.ErrFound},
		"kept and failed": {errors.New("in use"), errors.New("denied"), "deleted: 0, released: 0, kept: 1, failed: 1\n", cli.ErrReported},
	} {
		streams, _, out, errOut := genericiooptions.NewTestIOStreams()
		done := &applyResults{options: &repoApplyOptions{IOStreams: streams}, line: cli.NewProgress(errOut)}
		if test.kept != nil {
			done.keep(id, test.kept)
		}
		done.report(writer.Delete, id, "", test.failed)
		if err := done.conclude(t.Context()); !errors.Is(err, test.want) || !strings.HasSuffix(out.String(), test.text) {
			t.Errorf("%s: got %v, %q", name, err, out)
		}
	}
}
