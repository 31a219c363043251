package writerate

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Of writes of large objects, a tree has a share; small objects, and other trees, are not limited by it.
func TestLargeObjectsAreNotWrittenOften(t *testing.T) {
	root := func(namespace string) string { root, _, _ := strings.Cut(namespace, "."); return root }
	now := time.Unix(1000, 0)
	l := &limit{New(perSecond, burst), root, func() time.Time { return now }}
	quota := func(namespace string, bytes int) runtime.Object {
		return &hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Annotations: map[string]string{"a": strings.Repeat("x", bytes)}}}
	}
	write := func(name string, obj runtime.Object, dryRun ...string) error {
		return l.allow(genericapirequest.WithUser(context.Background(), &user.DefaultInfo{Name: name}), obj, dryRun)
	}
	const large = 64 << 10
	accepted := 0
	for write("ann", quota("a.b", large)) == nil {
		if accepted++; accepted > burst/large {
			t.Fatal("any number of large objects is written")
		}
	}
	if accepted < burst/large/treeShare/2 {
		t.Errorf("only %d large objects are written", accepted)
	}
	err := write("bob", quota("a.c", large))
	if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || seconds != retryAfter {
		t.Errorf("another user of the tree: got %v, want TooManyRequests with a delay", err)
	}
	for what, err := range map[string]error{
		"a small object":       write("ann", quota("a.b", 4<<10)),
		"a dry run":            write("ann", quota("a.b", large), metav1.DryRunAll),
		"the propagator":       write(hnc.PropagatorUser, quota("a.b", large)),
		"an object of another": write("ann", quota("b", large)),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	now = now.Add(time.Second)
	if err := write("ann", quota("a.b", large)); err != nil {
		t.Errorf("a second later: %v", err)
	}
}
