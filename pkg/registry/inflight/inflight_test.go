package inflight

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

func TestRequestsAreLimitedInTotalAndForEachUser(t *testing.T) {
	l := New("plans", Limits{Total: 3, PerUser: 2}, 7)
	as := func(name string) context.Context {
		return genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name})
	}
	acquire := func(name string) func() {
		t.Helper()
		release, err := l.Acquire(as(name))
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	rejects := func(name, why string) {
		t.Helper()
		_, err := l.Acquire(as(name))
		if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || seconds != 7 || !strings.Contains(err.Error(), why) {
			t.Errorf("%s got %v, want TooManyRequests after 7 s that says %s", name, err, why)
		}
	}
	first := acquire("ann")
	acquire("ann")
	rejects("ann", `user "ann" already has 2 plans`)
	acquire("ben")
	rejects("cat", "this server already has 3 plans")
	first()
	first() // releases one only
	acquire("cat")
	rejects("ann", "this server already has 3 plans")
}

func TestBytesAreLimitedAsRequestsAre(t *testing.T) {
	l := New("bytes", Limits{Total: 10, PerUser: 8}, 1)
	ann := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"})
	release, err := l.AcquireN(ann, 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.AcquireN(ann, 4); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), `user "ann" already has 5 bytes, and one user may have 8`) {
		t.Errorf("more than a user may have: %v", err)
	}
	if _, err := l.AcquireN(t.Context(), 6); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "this server already has 5 bytes, and may have 10") {
		t.Errorf("more than all may have: %v", err)
	}
	release()
	if _, err := l.AcquireN(ann, 8); err != nil {
		t.Errorf("after they have ended: %v", err)
	}
}

// A tenant can create any number of ServiceAccounts in a namespace.
func TestServiceAccountsOfANamespaceHaveOneShare(t *testing.T) {
	l := New("plans", Limits{Total: 10, PerUser: 2}, 1)
	as := func(name string) context.Context {
		return genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name})
	}
	for _, name := range []string{"system:serviceaccount:acme:a", "system:serviceaccount:acme:b", "system:serviceaccount:other:a", "system:serviceaccount:Acme", "acme"} {
		if _, err := l.Acquire(as(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.Acquire(as("system:serviceaccount:acme:c")); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), `user "system:serviceaccounts:acme" already has 2 plans`) {
		t.Errorf("a third one: got %v", err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := l.Acquire(as("system:serviceaccount:hns-repositories:" + name)); err != nil {
			t.Errorf("the account %s of a repository: %v", name, err)
		}
	}
}
