package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
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
	r.Revise([]*Object{o})
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
	var all []*Object
	for i := range maxAtOnce + 1 {
		all = append(all, object(i, 1))
		r.Record(all[i], now, denied)
	}
	r.Revise(all)
	if err := r.Wait(all[7], now); err == nil {
		t.Errorf("with a new revision, %d rejected objects are written again at once", maxAtOnce+1)
	}
}

// An object with thousands of invalid fields is answered with megabytes, in each namespace that inherits it.
func TestRejectionsKeepShortErrors(t *testing.T) {
	r, now := NewRejections(), time.Unix(1, 0)
	rejected := apierrors.NewInvalid(policy.Kind, "policy", field.ErrorList{field.Invalid(field.NewPath("data"), strings.Repeat("a ", 1<<20), "too long")})
	for i := range 10_000 {
		rejected.ErrStatus.Details.Causes = append(rejected.ErrStatus.Details.Causes, metav1.StatusCause{Field: fmt.Sprint(i)})
	}
	kept := func(o *Object) metav1.Status {
		r.Record(o, now, fmt.Errorf("in the cluster: %w", rejected))
		var status apierrors.APIStatus
		if err := r.Wait(o, now); !errors.As(err, &status) {
			t.Fatalf("got %v", err)
		}
		return status.Status()
	}
	status := kept(&Object{ID: policy})
	if text, err := json.Marshal(status); err != nil || len(text) > 4096 {
		t.Errorf("%d bytes are kept: %v", len(text), err)
	}
	if status.Reason != metav1.StatusReasonInvalid || status.Code != 422 || status.Message != names.ShortenText("in the cluster: "+rejected.Error()) {
		t.Errorf("got %+v", status)
	}
	for i := range maxFullMessages {
		r.Record(&Object{ID: ID{Kind: policy.Kind, Name: fmt.Sprint(i)}}, now, rejected)
	}
	if status := kept(&Object{ID: grant}); len(status.Message) > names.MaxLength {
		t.Errorf("of the object after %d others, %d bytes are kept", maxFullMessages, len(status.Message))
	}
}

// The code that is reported of an object must not change with how many others are rejected.
func TestShortRejectionsSayWhetherAPermissionIsMissing(t *testing.T) {
	r, now, long := NewRejections(), time.Unix(1, 0), strings.Repeat("x", names.MaxLength)
	resource := schema.GroupResource{Resource: "configmaps"}
	for i := range maxFullMessages {
		r.rejected[ID{Name: fmt.Sprint(i)}] = rejection{}
	}
	for reason, want := range map[string]bool{`User "account" cannot patch resource "configmaps"`: true, `exceeded quota: limit`: false} {
		o := &Object{ID: policy}
		r.Record(o, now, apierrors.NewForbidden(resource, long, errors.New(reason)))
		if err := r.Wait(o, now); err == nil || LacksPermission(err) != want || strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got %v", reason, err)
		}
	}
}

func TestRejectionsOfRemovedObjectsAreForgotten(t *testing.T) {
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "policy", errors.New("denied"))
	r, all := NewRejections(), []*Object(nil)
	for i := range 3 * maxAtOnce {
		all = append(all, &Object{ID: ID{Kind: policy.Kind, Namespace: "shop", Name: fmt.Sprint(i)}})
		r.Record(all[i], time.Unix(1, 0), denied)
	}
	for _, left := range []int{2 * maxAtOnce, maxAtOnce} {
		r.Revise(all[:left])
		want := left
		if left <= maxAtOnce {
			want = 0
		}
		if len(r.rejected) != want {
			t.Errorf("with %d objects in the repository, %d rejections are kept", left, len(r.rejected))
		}
	}
}

func TestDesiredEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result := &repository.Result{Objects: []*object.Object{{Unstructured: unstructured.Unstructured{Object: map[string]any{}}}}}
	if _, err := Desired(ctx, result, "policy"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
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
