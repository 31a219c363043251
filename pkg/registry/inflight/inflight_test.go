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
