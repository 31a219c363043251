package treerules

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

const (
	// maxLines is the number of objects that an error lists.
	maxLines = 20
	// maxReviews is the number of reviews to find these.
	maxReviews = 200
)

// describe lists the writes to objects that the requester may list. Of the others it names the kinds, but not how many
// objects there are and in which namespaces.
func (o *Overwrites) describe(ctx context.Context, requester user.Info, writes []copies.Write, describe func(copies.Write) string) string {
	type scope struct{ namespace, group, resource string }
	reviewed := map[scope]bool{}
	var lines []string
	hidden := sets.New[string]()
	more := false
	for _, w := range writes {
		at := scope{w.Namespace, w.Kind.Group, w.Kind.Resource}
		allowed, known := reviewed[at]
		if !known {
			if len(reviewed) == maxReviews {
				more = true
				break
			}
			allowed = o.mayList(ctx, requester, w)
			reviewed[at] = allowed
		}
		switch {
		case !allowed:
			hidden.Insert(w.Kind.GroupResource().String())
		case len(lines) == maxLines:
			more = true
		default:
			lines = append(lines, describe(w))
		}
	}
	if more {
		lines = append(lines, "and more")
	}
	if len(hidden) > 0 {
		lines = append(lines, fmt.Sprintf("objects that you may not list, of: %s", strings.Join(sets.List(hidden), ", ")))
	}
	return strings.Join(lines, "\n")
}

func (o *Overwrites) mayList(ctx context.Context, requester user.Info, w copies.Write) bool {
	decision, _, err := o.config.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: requester, Verb: "list", Namespace: w.Namespace, APIGroup: w.Kind.Group, APIVersion: w.Kind.Version, Resource: w.Kind.Resource,
		ResourceRequest: true,
	})
	return err == nil && decision == authorizer.DecisionAllow
}
