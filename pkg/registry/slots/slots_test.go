package slots

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

func TestSlotsAreLimitedInTotalAndForEachUser(t *testing.T) {
	s := New("plans", Limits{Total: 3, PerUser: 2}, 7)
	as := func(name string) context.Context {
		return genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name})
	}
	take := func(name string) func() {
		t.Helper()
		release, err := s.Take(as(name))
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	refused := func(name, why string) {
		t.Helper()
		_, err := s.Take(as(name))
		if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || seconds != 7 || !strings.Contains(err.Error(), why) {
			t.Errorf("%s got %v, want TooManyRequests after 7 s that says %s", name, err, why)
		}
	}
	first := take("ann")
	take("ann")
	refused("ann", `user "ann" already has 2 plans`)
	take("ben")
	refused("cat", "this server already has 3 plans")
	first()
	first() // releases one only
	take("cat")
	refused("ann", "this server already has 3 plans")
}
