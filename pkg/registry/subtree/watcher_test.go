package subtree

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A client that goes on watching misses what has joined and keeps what has left if its old namespaces are unknown.
func TestAWatchDoesNotGoOnFromUnknownNamespaces(t *testing.T) {
	expired, busy := apierrors.NewResourceExpired("compacted"), apierrors.NewTooManyRequests("busy", 1)
	for _, test := range []struct {
		name string
		err  error
		// elsewhere is whether another API server serves the kind.
		elsewhere bool
		want      func(error) bool
	}{
		{"the revision is too old", expired, false, apierrors.IsResourceExpired},
		{"kube-apiserver is busy", busy, false, apierrors.IsTooManyRequests},
		{"revisions of another API server", expired, true, func(err error) bool { return err == nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &watcher{
				handler: &handler{
					labeledAt:      func(context.Context, string, string) ([]string, error) { return nil, test.err },
					otherRevisions: func(schema.GroupVersionResource) bool { return test.elsewhere },
				},
				request: &request{root: "a", reader: reader{kind: configMaps}}, namespaces: sets.New("a", "b"),
			}
			before, left, err := w.membersAt(t.Context(), "5")
			if !test.want(err) {
				t.Errorf("got the error %v", err)
			}
			if err == nil && (!before.Equal(w.namespaces) || len(left) > 0) {
				t.Errorf("got %v and %v", before, left)
			}
		})
	}
}

// kube-apiserver labels the APIServices of what it serves, and its users may label others, to say that it does not.
func TestKindsWithOtherRevisions(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for name, managed := range map[string]string{"v1.": "onstart", "v1.example.com": "true", "v1beta1.hnc.x-k8s.io": "false", "v1.metrics.example.com": ""} {
		service := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if managed != "" {
			service.Labels = map[string]string{hnc.LabelAutoManaged: managed}
		}
		if err := indexer.Add(service); err != nil {
			t.Fatal(err)
		}
	}
	services := cache.NewGenericLister(indexer, hnc.APIServiceResource.GroupResource())
	for gvr, want := range map[schema.GroupVersionResource]bool{
		{Version: "v1", Resource: "secrets"}: false, {Group: "example.com", Version: "v1", Resource: "events"}: false,
		{Group: "hnc.x-k8s.io", Version: "v1beta1", Resource: "hierarchies"}: true, {Group: "metrics.example.com", Version: "v1", Resource: "pods"}: true,
		{Version: "v1", Resource: "events"}: true, {Group: "events.k8s.io", Version: "v1", Resource: "events"}: true, {Group: "unknown", Version: "v1", Resource: "x"}: false,
	} {
		if got := otherRevisions(services, gvr); got != want {
			t.Errorf("%s: got %v", gvr, got)
		}
	}
}
