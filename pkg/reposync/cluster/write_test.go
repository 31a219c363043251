package cluster

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Hierarchies and Subnamespaces are not deleted, with a conflict, while the tree around them keeps changing.
func TestConflictsOfDeletions(t *testing.T) {
	hierarchies := schema.GroupVersion{Group: "hnc.x-k8s.io", Version: "v1beta1"}
	for name, test := range map[string]struct {
		code int // of the answer to a get
		uid  types.UID
		want func(error) bool
	}{
		"the object is still there":  {200, "own", apierrors.IsConflict},
		"another one has its name":   {200, "other", func(err error) bool { return errors.Is(err, ErrReplaced) }},
		"it is gone meanwhile":       {404, "", func(err error) bool { return err == nil }},
		"the account may not get it": {403, "", apierrors.IsForbidden},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodGet && test.code == 200 {
				_ = json.NewEncoder(w).Encode(metav1.PartialObjectMetadata{
					TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "hierarchy", UID: test.uid},
				})
				return
			}
			code := 409
			if r.Method == http.MethodGet {
				code = test.code
			}
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(apierrors.NewGenericServerResponse(code, r.Method, schema.GroupResource{}, "hierarchy", "", 0, true).Status())
		}))
		config := &rest.Config{Host: server.URL}
		c, err := New(config, config, "policy", func() {})
		if err != nil {
			t.Fatal(err)
		}
		mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{hierarchies})
		mapper.Add(hierarchies.WithKind("Hierarchy"), meta.RESTScopeNamespace)
		c.found = &kinds{mapper: mapper}
		id := plan.ID{Kind: hierarchies.WithKind("Hierarchy").GroupKind(), Namespace: "shop", Name: "hierarchy"}
		c.record(&plan.Object{ID: id}, plan.Live{UID: "own", Version: 1})
		err = c.Delete(t.Context(), id)
		if !test.want(err) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, known := c.State().Applied[id]; known != (err != nil && !errors.Is(err, ErrReplaced)) {
			t.Errorf("%s: after %v, the result of applying it is known: %t", name, err, known)
		}
		server.Close()
	}
}
