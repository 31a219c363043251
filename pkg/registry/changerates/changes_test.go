package changerates

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// A request about several objects costs what each does, also if it is rejected in the middle.
func TestEachObjectOfARequestCounts(t *testing.T) {
	r := NewChanges(authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", nil
	}), "hierarchicalresourcequotas", "limits")
	r.now = func() time.Time { return time.Unix(1000, 0) }
	made := 0
	for err := error(nil); err == nil && made <= changesBurst; {
		ctx, done := r.Begin(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "eve"}), nil)
		for range 5 {
			Next(ctx)
			if err = r.Allow(ctx, "eve", 1, "delete"); err == nil {
				made++
			}
		}
		// Some may have been deleted before it.
		done(apierrors.NewConflict(schema.GroupResource{}, "q", nil))
	}
	if made != changesBurst/2 {
		t.Errorf("%d deletions, want %d", made, changesBurst/2)
	}
}

// A tenant who changes limits again and again is slowed down, others and administrators are not.
func TestLimitsOfATreeAreNotChangedOften(t *testing.T) {
	now := time.Unix(1000, 0)
	r := NewChanges(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser().GetName() == "admin" && a.GetNamespace() == "" && a.GetResource() == "hierarchicalresourcequotas" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	}), "hierarchicalresourcequotas", "limits")
	r.now = func() time.Time { return now }
	write := func(name, root string, below int, result error) error {
		ctx, done := r.Begin(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name}), nil)
		err := r.Allow(ctx, root, 1+Below(below), "update")
		if again := r.Allow(ctx, root, 1+Below(below), "update"); err == nil && again != nil {
			t.Errorf("tried again by the store: %v", again)
		}
		done(result)
		return err
	}
	change := func(name, root string) error { return write(name, root, 0, nil) }
	for range changesBurst {
		ctx, done := r.Begin(t.Context(), []string{metav1.DryRunAll})
		if err := r.Allow(ctx, "eve", 1, "update"); err != nil {
			t.Fatal("a dry run:", err)
		}
		done(nil)
		if err := write("eve", "eve", 0, apierrors.NewBadRequest("invalid")); err != nil {
			t.Fatal("a write that fails:", err)
		}
	}
	// Whether it has written is not known.
	if err := write("eve", "eve", 0, context.DeadlineExceeded); err != nil {
		t.Fatal(err)
	}
	if err := write("eve", "eve", 0, apierrors.NewInternalError(errors.New("etcd"))); err != nil {
		t.Fatal(err)
	}
	for range changesBurst/2 - 2 {
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
	const large = 10 * namespacesOfChange
	for range changesBurst/2/11 + 1 {
		if err := write("bob", "bob", large, apierrors.NewConflict(schema.GroupResource{}, "q", nil)); err != nil {
			t.Fatal("a write in a large tree that fails:", err)
		}
		if err := write("bob", "bob", large, nil); err != nil {
			t.Fatal("a large tree:", err)
		}
	}
	err := write("bob", "bob", large, nil)
	if after, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || after != 11 {
		t.Errorf("many changes of the limits of a large tree: %v, again after %d s", err, after)
	}
	now = now.Add(time.Minute)
	if err := write("zoe", "zoe", 1_000_000, nil); err != nil {
		t.Errorf("one change in a tree of any size: %v", err)
	}
}
