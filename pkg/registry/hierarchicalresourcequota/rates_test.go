package hierarchicalresourcequota

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// A tenant who changes limits again and again is slowed down, others and administrators are not.
func TestLimitsOfATreeAreNotChangedOften(t *testing.T) {
	now := time.Unix(1000, 0)
	r := newRates(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser().GetName() == "admin" && a.GetNamespace() == "" && a.GetResource() == "hierarchicalresourcequotas" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	}))
	r.now = func() time.Time { return now }
	write := func(name, root string, written bool) error {
		ctx, done := r.begin(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name}))
		err := r.allow(ctx, root, "update", nil)
		if again := r.allow(ctx, root, "update", nil); err == nil && again != nil {
			t.Errorf("tried again by the store: %v", again)
		}
		done(written)
		return err
	}
	change := func(name, root string) error { return write(name, root, true) }
	for range changesBurst {
		if err := r.allow(t.Context(), "eve", "update", []string{metav1.DryRunAll}); err != nil {
			t.Fatal("a dry run:", err)
		}
		if err := write("eve", "eve", false); err != nil {
			t.Fatal("a write that fails:", err)
		}
	}
	for range changesBurst / 2 {
		if err := change("eve", "eve"); err != nil {
			t.Fatal(err)
		}
	}
	if err := change("eve", "eve"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("any number of changes: %v", err)
	}
	if err := change("admin", "eve"); err != nil {
		t.Errorf("an administrator: %v", err)
	}
	if err := change("ann", "ann"); err != nil {
		t.Errorf("another tree: %v", err)
	}
	now = now.Add(time.Second)
	if err := change("eve", "eve"); err != nil {
		t.Errorf("a second later: %v", err)
	}
}
