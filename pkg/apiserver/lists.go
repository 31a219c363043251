package apiserver

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/util/sets"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
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

	// trees and namespaces limit lists of single namespaces, everything the others: whoever may list all namespaces is no
	// tenant, and has memory of their own.
	trees, namespaces, everything *inflight.Limiter
}

func newLists() *lists {
	limiter := func(most int) *inflight.Limiter {
		return inflight.New("bytes of large lists", inflight.Limits{Total: listMemory, PerUser: most}, 1)
	}
	return &lists{trees: limiter(treeMemory), namespaces: limiter(namespaceMemory), everything: limiter(math.MaxInt)}
}

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
	size := l.size(storedResource(hnc.Resource(info.Resource)).Resource, info.Namespace, limitOf(r))
	switch {
	case size <= smallList || accessreview.ByPropagator(r.Context()) || deletesNamespace(r.Context()):
		return func() {}, nil
	case info.Namespace == "":
		return l.everything.AcquireTree("", min(size, listMemory))
	}
	size = min(size, namespaceMemory)
	giveBack, err := l.namespaces.AcquireNamespace(info.Namespace, size)
	if err != nil {
		return nil, err
	}
	ofTree, err := l.trees.AcquireTree(l.root(info.Namespace), size)
	if err != nil {
		giveBack()
		return nil, err
	}
	return func() { giveBack(); ofTree() }, nil
}

// deletesNamespace reports whether the requester is the controller of Kubernetes that empties namespaces. Whoever reads
// slowly there must not keep it waiting.
func deletesNamespace(ctx context.Context) bool {
	requester, ok := genericapirequest.UserFrom(ctx)
	return ok && requester.GetName() == hnc.NamespaceControllerUser
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
