package treeplacement

import (
	"context"
	"sync"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
)

// concurrentReviews is the number of concurrent reviews of a request.
const concurrentReviews = 16

// warmUp asks concurrently for the rights that the placements will need one after the other, so that the authorizer has the answers in its cache. It decides
// nothing.
func (r *REST) warmUp(ctx context.Context, placements []forest.Placement) {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return
	}
	reviews := make(chan authorizer.AttributesRecord)
	var workers sync.WaitGroup
	for range concurrentReviews {
		workers.Go(func() {
			for attributes := range reviews {
				_, _, _ = r.Authorizer.Authorize(ctx, attributes)
			}
		})
	}
	parents := map[string]bool{"": true}
	for _, p := range placements {
		write := authorizer.AttributesRecord{
			User: user, Verb: "create", Namespace: p.Name, APIGroup: hnc.GroupName, APIVersion: v1beta1.SchemeGroupVersion.Version, Resource: "hierarchies",
			ResourceRequest: true, Path: Path(p.Name),
		}
		if _, err := r.CachedHierarchy(ctx, p.Name); err == nil {
			write.Verb, write.Name, write.Path = "patch", hnc.Singleton, ItemPath(p.Name)
		}
		reviews <- write
		if !parents[p.Parent] {
			parents[p.Parent] = true
			reviews <- authorizer.AttributesRecord{
				User: user, Verb: "update", Namespace: p.Parent, APIGroup: hnc.GroupName, APIVersion: "*", Resource: "hierarchies", ResourceRequest: true,
			}
		}
	}
	close(reviews)
	workers.Wait()
}

// Path returns the path of the hierarchies of a namespace, where one is created.
func Path(namespace string) string {
	return "/apis/" + v1beta1.SchemeGroupVersion.String() + "/namespaces/" + namespace + "/hierarchies"
}

// ItemPath returns the path of the hierarchy of a namespace.
func ItemPath(namespace string) string { return Path(namespace) + "/" + hnc.Singleton }
