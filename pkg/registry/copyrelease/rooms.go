package copyrelease

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	// maxPerTree bounds the releases that are stored in a tree: the propagator fulfills each of them.
	maxPerTree = 100
	// retryAfter is after how many seconds clients repeat a request.
	retryAfter = 60
)

// rooms bound the releases of each tree, those that are being created included.
type rooms struct {
	root func(namespace string) string
	list func(context.Context) (*hnc.CopyReleaseList, error)

	mu sync.Mutex
	// creating are the numbers of releases that are being created, by the roots of their trees.
	creating map[string]int
}

func newRooms(root func(namespace string) string, list func(context.Context) (*hnc.CopyReleaseList, error)) *rooms {
	return &rooms{root: root, list: list, creating: map[string]int{}}
}

// enter counts a release that is being created in a namespace until leave is called. It fails with TooManyRequests if
// the tree has as many as it may have. Nobody waits for anybody else's request.
func (r *rooms) enter(ctx context.Context, namespace string) (leave func(), err error) {
	tree := r.root(namespace)
	creating := r.add(tree, 1)
	defer func() {
		if err != nil {
			r.add(tree, -1)
		}
	}()
	if creating > maxPerTree {
		return nil, full(tree, creating-1)
	}
	list, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	present := 0
	for _, release := range list.Items {
		if r.root(release.Namespace) == tree {
			present++
		}
	}
	if present+creating > maxPerTree {
		return nil, full(tree, present+creating-1)
	}
	return func() { r.add(tree, -1) }, nil
}

// add changes the number of releases that are being created in a tree, and returns it.
func (r *rooms) add(tree string, n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.creating[tree] += n
	now := r.creating[tree]
	if now == 0 {
		delete(r.creating, tree)
	}
	return now
}

func full(tree string, n int) error {
	return apierrors.NewTooManyRequests(fmt.Sprintf("tree %q has %d copyreleases, the most that it may have; they are deleted %d minutes after their creation", tree, n, hnc.CopyReleaseTTL/60), retryAfter)
}
