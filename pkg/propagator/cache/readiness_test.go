package cache

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

func TestReadinessFollowsRequiredResources(t *testing.T) {
	c := New(Config{})
	var failure error
	synced := 0
	w, l, listed := c.readiness.observe(hierarchies,
		func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, failure },
		func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, failure },
		func() { synced++ })
	want := func(what string, got error, want string) {
		t.Helper()
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", what, got, want)
		}
	}
	want("at first", c.Synced(), "not listed yet: hierarchies")
	want("at first", c.Watching(), "<nil>")
	failure = errors.New("away")
	_, _ = l(t.Context(), metav1.ListOptions{})
	want("after a list has failed", c.Watching(), "hierarchies cannot be watched: away")
	failure = nil
	_, _ = l(t.Context(), metav1.ListOptions{})
	listed()
	want("after a list", c.Synced(), "<nil>")
	want("after a list", c.Watching(), "<nil>")
	if synced != 1 {
		t.Errorf("synced %d times", synced)
	}
	// The reflector lists after these errors, and the result of that counts.
	for _, failure = range []error{apierrors.NewResourceExpired("old"), apierrors.NewInvalid(schema.GroupKind{}, "a", nil)} {
		_, _ = w(t.Context(), metav1.ListOptions{})
		want(fmt.Sprint("after ", failure), c.Watching(), "<nil>")
	}
	failure = apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no permission"))
	_, _ = w(t.Context(), metav1.ListOptions{})
	if c.Watching() == nil {
		t.Error("ready although hierarchies cannot be watched")
	}
}

func TestReadinessRequiresTheTreeTheConfigurationAndEnforcedKinds(t *testing.T) {
	for resource, want := range map[string]bool{
		namespaces: true, hierarchies: true, subnamespaces: true, configurations: true, "roles.rbac.authorization.k8s.io": true,
		"rolebindings.rbac.authorization.k8s.io": true, "widgets.example.com": false, releases: false,
	} {
		if required(resource) != want {
			t.Errorf("%s is required: %v, want %v", resource, !want, want)
		}
	}
}
