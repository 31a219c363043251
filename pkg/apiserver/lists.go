package apiserver

import (
	"net/http"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

const (
	// listMemory bounds the objects that all lists in flight of single namespaces contain, in bytes of JSON, and the
	// large ones of lists of all namespaces. A list needs some times as much memory, because it is converted and encoded.
	listMemory = 64 << 20
	// treeShare is the divisor for the share of one tree, so that a tenant who lists much leaves memory to others.
	treeShare = 2
	// smallList is the size up to which a list is not limited.
	smallList = 256 << 10
)

// lists limits the memory of lists of stored objects.
type lists struct {
	// size returns the size of the objects of a resource in a namespace, of a limited number if limit is positive, or
	// with "" of the large ones in all; nil before the stores exist.
	size func(resource, namespace string, limit int) int
	// root returns the root of the tree of a namespace.
	root func(namespace string) string

	mu sync.Mutex
	// used has the bytes in flight by root, "" for lists of all namespaces.
	used map[string]int
}

func newLists() *lists { return &lists{used: map[string]int{}} }

// listVerbs are the verbs whose responses contain all objects. deletecollection returns what it deletes, or would
// delete.
var listVerbs = sets.New("list", "deletecollection")

// acquire reserves memory for a request until it is released. It fails with TooManyRequests.
func (l *lists) acquire(r *http.Request) (release func(), err error) {
	info, ok := genericapirequest.RequestInfoFrom(r.Context())
	if !ok || l.size == nil || info.APIGroup != hnc.GroupName || !listVerbs.Has(info.Verb) {
		return func() {}, nil
	}
	if info.Name != "" && info.Namespace != "" {
		return func() {}, nil // It returns one object.
	}
	most, tree := listMemory, ""
	if info.Namespace != "" {
		most, tree = most/treeShare, l.root(info.Namespace)
	}
	size := min(l.size(storedResource(hnc.Resource(info.Resource)).Resource, info.Namespace, limitOf(r)), most)
	if size <= smallList || accessreview.ByPropagator(r.Context()) {
		return func() {}, nil
	}
	if !l.take(tree, size, most) {
		return nil, apierrors.NewTooManyRequests("large lists use the memory that they may use; try again later, or get single objects", 1)
	}
	return func() { l.take(tree, -size, most) }, nil
}

// limitOf returns the number of objects that a list returns at most, 0 without a limit.
func limitOf(r *http.Request) int {
	query := r.URL.Query()
	if query.Get("resourceVersion") == "0" || query.Has("labelSelector") || query.Has("fieldSelector") {
		return 0 // The watch cache ignores limits then, and etcd is read until enough objects are selected.
	}
	limit, _ := strconv.Atoi(query.Get("limit")) // An invalid one is rejected.
	return limit
}

// take adds to the bytes in flight of a tree, unless it would have more than most then, or all would have more
// than listMemory. Whoever may list all namespaces is no tenant, and has memory of their own.
func (l *lists) take(tree string, size, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tree != "" {
		all := size
		for name, used := range l.used {
			if name != "" {
				all += used
			}
		}
		if all > listMemory {
			return false
		}
	}
	if l.used[tree]+size > most {
		return false
	}
	if l.used[tree] += size; l.used[tree] == 0 {
		delete(l.used, tree)
	}
	return true
}

// withLists limits the lists in flight.
func (l *lists) withLists(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		release, err := l.acquire(r)
		if err != nil {
			writeError(err, w, r)
			return
		}
		defer release()
		next.ServeHTTP(w, r)
	})
}
