package apiserver

import (
	"context"
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
	// treeMemory and namespaceMemory bound the share of one tree and of one of its namespaces, so that a tenant who lists
	// much leaves memory to others.
	treeMemory      = listMemory / 2
	namespaceMemory = listMemory / 4
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
	// all are the bytes in flight of lists of single namespaces, used those of each namespace, usedIn those of each tree by
	// its root. Lists of all namespaces are in used[""] only.
	all          int
	used, usedIn map[string]int
}

func newLists() *lists { return &lists{used: map[string]int{}, usedIn: map[string]int{}} }

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
		most, tree = namespaceMemory, l.root(info.Namespace)
	}
	size := min(l.size(storedResource(hnc.Resource(info.Resource)).Resource, info.Namespace, limitOf(r)), most)
	if size <= smallList || accessreview.ByPropagator(r.Context()) || deletesNamespace(r.Context()) {
		return func() {}, nil
	}
	if !l.take(info.Namespace, tree, size) {
		return nil, apierrors.NewTooManyRequests("large lists use the memory that they may use; try again later, or get single objects", 1)
	}
	return func() { l.take(info.Namespace, tree, -size) }, nil
}

// deletesNamespace reports whether the requester is the controller of Kubernetes that empties namespaces. Whoever reads
// slowly there must not keep it waiting.
func deletesNamespace(ctx context.Context) bool {
	requester, ok := genericapirequest.UserFrom(ctx)
	return ok && requester.GetName() == "system:serviceaccount:kube-system:namespace-controller"
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

// take adds to the bytes in flight of a namespace and its tree, unless one of them, or all, would have too many then.
// Whoever may list all namespaces is no tenant, and has memory of their own.
func (l *lists) take(namespace, tree string, size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if namespace == "" {
		return add(l.used, "", size, listMemory)
	}
	if l.all+size > listMemory || l.usedIn[tree]+size > treeMemory || !add(l.used, namespace, size, namespaceMemory) {
		return false
	}
	l.all += size
	return add(l.usedIn, tree, size, treeMemory)
}

// add adds to what a key has, unless it would have more than most then.
func add(used map[string]int, key string, size, most int) bool {
	if used[key]+size > most {
		return false
	}
	if used[key] += size; used[key] == 0 {
		delete(used, key)
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
