package plan

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestRejectedObjectsBackOff(t *testing.T) {
	now := time.Unix(1, 0)
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "policy", errors.New("denied"))
	object := func(i int, hash uint64) *Object {
		return &Object{ID: ID{Kind: policy.Kind, Namespace: "shop", Name: fmt.Sprint(i)}, Hash: hash}
	}
	r, o := NewRejections(), object(0, 1)
	for _, wait := range []time.Duration{1, 2, 4} {
		r.Record(o, now, denied)
		if err := r.Wait(o, now.Add(wait*time.Second-1)); err == nil {
			t.Errorf("the object is written again before %d s", wait)
		}
		if err := r.Wait(object(0, 2), now); err != nil {
			t.Errorf("another content waits: %v", err)
		}
		now = now.Add(wait * time.Second)
		if err := r.Wait(o, now); err != nil {
			t.Errorf("the object waits longer than %d s: %v", wait, err)
		}
	}
	for range 20 {
		r.Record(o, now, denied)
	}
	if err := r.Wait(o, now.Add(maxWait)); err != nil {
		t.Errorf("the object waits longer than %s", maxWait)
	}
	r.Revise()
	if err := r.Wait(o, now); err != nil {
		t.Errorf("with a new revision, a rejected object waits: %v", err)
	}
	for name, err := range map[string]error{"success": nil, "another error": errors.New("connection refused"), "load": apierrors.NewTooManyRequests("busy", 1)} {
		r.Record(o, now, denied)
		r.Record(o, now, err)
		if err := r.Wait(o, now); err != nil {
			t.Errorf("after %s, the object waits: %v", name, err)
		}
	}
	for i := range maxAtOnce + 1 {
		r.Record(object(i, 1), now, denied)
	}
	r.Revise()
	if err := r.Wait(object(7, 1), now); err == nil {
		t.Errorf("with a new revision, %d rejected objects are written again at once", maxAtOnce+1)
	}
}

// TestUnknownKindsKeepNothingElse has a kind that the account may not list, beside objects that have left the
// repository.
func TestUnknownKindsKeepNothingElse(t *testing.T) {
	live := Live{UID: "u", Version: 1, Owned: 7}
	role := ID{Kind: schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}, Namespace: "shop", Name: "binding"}
	cluster := ID{Kind: schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, Name: "cluster"}
	namespace := &Object{ID: shop, Phase: PhaseRest, Handling: CreateOnly}
	for name, c := range map[string]struct {
		desired []*Object
		unknown []schema.GroupKind
		want    string
	}{
		"another kind":               {[]*Object{namespace}, []schema.GroupKind{policy.Kind}, "delete binding, delete cluster"},
		"nothing":                    {nil, nil, "delete cluster, delete shop"},
		"namespaces, which is there": {[]*Object{namespace}, []schema.GroupKind{shop.Kind}, "delete binding, delete policy, delete cluster"},
		"namespaces":                 {nil, []schema.GroupKind{shop.Kind}, "delete cluster"},
	} {
		state := &State{Live: map[ID]Live{shop: live, policy: live, role: live, cluster: live}, Unknown: map[schema.GroupKind]bool{}}
		for _, kind := range c.unknown {
			state.Unknown[kind] = true
		}
		if got := text(Compute(c.desired, state, true)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
