package cluster

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// TestChangesThatListsLeaveOutAreDrift has a watch end, so that the object is listed with what another client changed
// last, and not with what it changed before.
func TestChangesThatListsLeaveOutAreDrift(t *testing.T) {
	var lists atomic.Int32
	applied := make(chan struct{})
	c := serving(t, "a", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch {
		case query.Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`))
		case query.Get("watch") != "" && lists.Load() == 1:
			<-applied
			_, _ = w.Write([]byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`))
		case query.Get("watch") != "":
			<-r.Context().Done()
		default:
			n := lists.Add(1)
			_, _ = fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"%d0"},"items":[{
				"metadata":{"namespace":"shop","name":"policy","uid":"u","resourceVersion":"%d5","managedFields":[
				{"manager":"hns-sync-a","operation":"Apply","apiVersion":"v1","fieldsV1":{}},{"manager":"other%d","operation":"Update","apiVersion":"v1","fieldsV1":{}}]}}]}`, n, n-1, n)
		}
	})
	defer c.Stop()
	core := schema.GroupVersion{Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{core})
	mapper.Add(core.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	c.found = &kinds{mapper: mapper}
	id := plan.ID{Kind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: "shop", Name: "policy"}
	if failed := c.Watch(t.Context(), []schema.GroupKind{id.Kind}, time.Minute); len(failed) > 0 {
		t.Fatal(failed)
	}
	live, _ := c.Live(id)
	c.record(&plan.Object{ID: id}, live)
	close(applied)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if now, _ := c.Live(id); now.Version == 15 && now.Owned == live.Owned && now.Managed != live.Managed {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is not listed again")
		}
	}
	if !c.State().Applied[id].Touched {
		t.Error("what may have happened before the list is not noticed")
	}
}
