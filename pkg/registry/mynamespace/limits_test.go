package mynamespace

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

func TestWatchesOfOneUserAreLimited(t *testing.T) {
	r, ctx := served(t)
	open := func(ctx context.Context) (watch.Interface, error) {
		return r.Watch(ctx, &metainternalversion.ListOptions{})
	}
	var first watch.Interface
	for range limits.PerUser {
		w, err := open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		first = w
	}
	_, err := open(ctx)
	if seconds, wait := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !wait || seconds != retryAfter {
		t.Errorf("one watch more: %v", err)
	}
	other, err := open(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ben"}))
	if err != nil {
		t.Fatalf("somebody else: %v", err)
	}
	defer other.Stop()
	first.Stop()
	for range first.ResultChan() {
		// it must end
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		w, err := open(ctx)
		if err == nil {
			w.Stop()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after one has ended: %v", err)
		}
	}
}

func TestAWatchThatFailsIsNotCounted(t *testing.T) {
	r, ctx := served(t)
	for range limits.PerUser + 1 {
		if _, err := r.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: "1"}); !apierrors.IsResourceExpired(err) {
			t.Fatalf("got %v", err)
		}
	}
}
