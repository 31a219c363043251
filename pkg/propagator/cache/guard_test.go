package cache

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// requests counts the watches that reach the API server, and fails the first of them.
type requests struct {
	failures int
	versions []string
}

func (r *requests) watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	r.versions = append(r.versions, o.ResourceVersion)
	if len(r.versions) <= r.failures {
		return nil, apierrors.NewServiceUnavailable("no endpoints")
	}
	return watch.NewFake(), nil
}

func TestWatchGoesOnFromItsVersionWhenTheServerIsBack(t *testing.T) {
	r := requests{failures: 2}
	var failing []error
	c := New(Config{})
	g := guard{readiness: c.readiness, check: func(context.Context) (string, error) {
		failing = append(failing, c.Watching())
		return "9", nil
	}}
	w, err := g.watch(hierarchies, r.watch)(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
	if w == nil || err != nil {
		t.Fatalf("a reflector would list: %v", err)
	}
	if got := strings.Join(r.versions, " "); got != "7 7 7" {
		t.Errorf("watched from the versions %s", got)
	}
	// Readiness reports it meanwhile.
	if len(failing) != 3 || failing[0] != nil || failing[2] == nil || !strings.Contains(failing[2].Error(), "hierarchies cannot be watched") {
		t.Errorf("reported %v", failing)
	}
}

// The propagator is not unready for ever because of a watch of which nobody sees that it has succeeded.
func TestWatchOfWhatIsNotRequiredIsNotReported(t *testing.T) {
	c := New(Config{})
	r := requests{failures: 1}
	g := guard{readiness: c.readiness, check: func(context.Context) (string, error) { return "9", nil }}
	if _, err := g.watch(views, r.watch)(t.Context(), metav1.ListOptions{ResourceVersion: "7"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Watching(); err != nil {
		t.Errorf("after the server is back: %v", err)
	}
}

func TestWatchWithoutAVersionFailsWhileTheServerIsAway(t *testing.T) {
	r := requests{failures: 1}
	g := guard{readiness: newReadiness(), check: func(context.Context) (string, error) { return "9", nil }}
	if _, err := g.watch(hierarchies, r.watch)(t.Context(), metav1.ListOptions{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("error %v", err)
	}
}

func TestWatchEndsWithItsContextWhileTheServerIsAway(t *testing.T) {
	r := requests{failures: 1}
	g := guard{readiness: newReadiness(), check: func(context.Context) (string, error) { return "9", nil }}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.watch(hierarchies, r.watch)(ctx, metav1.ListOptions{ResourceVersion: "7"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A store that was restored from a backup would be watched from a version that it reaches much later.
func TestStoreAtAnEarlierVersionIsListed(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		want    bool
	}{
		"an earlier version":  {"5", true},
		"the same version":    {"7", false},
		"a later version":     {"9", false},
		"the store is unread": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			var r requests
			g := guard{readiness: newReadiness(), check: func(context.Context) (string, error) { return test.version, nil }}
			_, err := g.watch(hierarchies, r.watch)(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
			if got := apierrors.IsResourceExpired(err); got != test.want || got == (len(r.versions) > 0) {
				t.Errorf("error %v after %d watches", err, len(r.versions))
			}
		})
	}
}

func TestAnotherStoreIsNeitherListedNorWatched(t *testing.T) {
	other := errors.New("another store")
	g := guard{readiness: newReadiness(), check: func(context.Context) (string, error) { return "", other }}
	var r requests
	if _, err := g.watch(hierarchies, r.watch)(t.Context(), metav1.ListOptions{ResourceVersion: "7"}); !errors.Is(err, other) || len(r.versions) > 0 {
		t.Errorf("error %v after %d watches", err, len(r.versions))
	}
	_, err := g.list(func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		t.Error("listed")
		return nil, nil
	})(t.Context(), metav1.ListOptions{})
	if !errors.Is(err, other) {
		t.Errorf("error %v", err)
	}
	g.check = func(context.Context) (string, error) { return "9", nil }
	list, err := g.list(func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		return &v1beta1.HierarchyList{}, nil
	})(t.Context(), metav1.ListOptions{})
	if list == nil || err != nil {
		t.Errorf("the same store: %v", err)
	}
}
