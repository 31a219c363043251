package subtree

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
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
					labeledAt:       func(context.Context, string, string) ([]string, error) { return nil, test.err },
					servedElsewhere: func(schema.GroupVersion) bool { return test.elsewhere },
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
