package apiserver

import (
	"net/http"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

const (
	// listMemory bounds the large objects that all lists in flight contain, in bytes of JSON. A list needs some times
	// as much memory, because it is converted and encoded.
	listMemory = 64 << 20
	// smallList is the size up to which a list is not limited.
	smallList = 256 << 10
)

// lists limits the memory of lists of stored objects.
type lists struct {
	// large returns the size of the large objects of a resource in a namespace, or with "" in all; nil before the stores
	// exist.
	large func(resource, namespace string) int
	free  *semaphore.Weighted
}

func newLists() *lists { return &lists{free: semaphore.NewWeighted(listMemory)} }

// acquire reserves memory for a request until it is released. It fails with TooManyRequests.
func (l *lists) acquire(r *http.Request) (release func(), err error) {
	info, ok := genericapirequest.RequestInfoFrom(r.Context())
	if !ok || l.large == nil || info.APIGroup != hnc.GroupName || info.Verb != "list" {
		return func() {}, nil
	}
	size := int64(min(l.large(storedResource(hnc.Resource(info.Resource)).Resource, info.Namespace), listMemory))
	if user, ok := genericapirequest.UserFrom(r.Context()); size <= smallList || ok && user.GetName() == hnc.PropagatorUser {
		return func() {}, nil
	}
	if !l.free.TryAcquire(size) {
		return nil, apierrors.NewTooManyRequests("lists of large objects use the memory that they may use; try again later, or get single objects", 1)
	}
	return func() { l.free.Release(size) }, nil
}

// withLists limits the lists in flight.
func withLists(build handlerChain, l *lists, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			release, err := l.acquire(r)
			if err != nil {
				responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
				return
			}
			defer release()
			api.ServeHTTP(w, r)
		}), config)
	}
}
