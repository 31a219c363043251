package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Thousands of permissions may wait, each in a namespace with an object that is rejected.
func TestPermissionsThatWaitAreReadOnce(t *testing.T) {
	for name, exists := range map[string]bool{"one that is applied": true, "one that is missing": false} {
		read := 0
		c, o := newTestCluster(t, `{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers"},
			"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"User","name":"ann"},{"kind":"User","name":"bob"}]}`, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				t.Errorf("%s: %s", name, r.Method)
			}
			read++
			if !exists {
				w.WriteHeader(http.StatusNotFound)
				_ = json.NewEncoder(w).Encode(apierrors.NewNotFound(schema.GroupResource{}, "readers").Status())
				return
			}
			_, _ = fmt.Fprint(w, `{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers","uid":"u","resourceVersion":"5",
				"labels":{"hnc.x-k8s.io/repository-sync":"policy"}},"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"User","name":"ann"}]}`)
		})
		delete(c.live, o.ID)
		if exists {
			c.put(o.ID, plan.Live{UID: "u", Version: 5})
		}
		other := *o
		other.Hash++
		for _, step := range []struct {
			what   string
			before func()
			o      *plan.Object
			want   int
		}{
			{"at first", func() {}, o, 1},
			{"again", func() {}, o, 1},
			{"after a change", func() { c.put(o.ID, plan.Live{UID: "u", Version: 6}) }, o, 2},
			{"after a commit", func() {}, &other, 3},
			{"after some time", func() { c.harmlessSince = c.harmlessSince.Add(-lookAgain) }, &other, 4},
		} {
			step.before()
			c.Begin()
			reduces, err := c.Revoke(t.Context(), step.o, nil)
			if err != nil || reduces || read != step.want {
				t.Errorf("%s, %s: got %t, %v, and %d reads, want %d", name, step.what, reduces, err, read, step.want)
			}
		}
	}
}

// A rejected permission may be applied as soon as it waits, because that grants nothing new.
func TestRejectedPermissionsAreReadAgain(t *testing.T) {
	const binding = `{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers","uid":"u","resourceVersion":"5",
		"labels":{"hnc.x-k8s.io/repository-sync":"policy"}},"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"User","name":"ann"}]}`
	c, o := newTestCluster(t, binding, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Error(r.Method)
		}
		_, _ = fmt.Fprint(w, binding)
	})
	rejected := apierrors.NewForbidden(schema.GroupResource{}, "readers", errors.New("a policy rejects a label"))
	for _, step := range []struct {
		err  error
		want bool
	}{{rejected, false}, {nil, true}} {
		if reduces, err := c.Revoke(t.Context(), o, step.err); err != nil || reduces != step.want {
			t.Errorf("after %v: got %t, %v", step.err, reduces, err)
		}
	}
}
