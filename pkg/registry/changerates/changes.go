// Package changerates limits how often tenants change what concerns many namespaces.
package changerates

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

const (
	// changesPerSecond and changesBurst bound the changes, half of them in one tree.
	changesPerSecond = 2
	changesBurst     = 60
	// namespacesOfChange is how many namespaces below a change cost as much as one more: hns-propagator determines what
	// follows for each.
	namespacesOfChange = 500
	// retryAfter is after how many seconds clients repeat a request of the lowest cost.
	retryAfter = 2
)

// Below returns what a change costs a tree that concerns all namespaces below one: 0 for a few of them.
func Below(namespaces int) int { return min(namespaces/namespacesOfChange, changesBurst/2-1) }

// Changes limit how often a resource is changed in a tree that concerns many namespaces, by users who may not change it
// in all trees.
type Changes struct {
	rates   *tenantrates.Rates
	reviews authorizer.Authorizer
	// resource is that of the group hnc.x-k8s.io, and what says what of it is changed.
	resource, what string
	now            func() time.Time
}

// NewChanges returns the rates of changes of a resource of hnc.x-k8s.io. Its text for people is what.
func NewChanges(reviews authorizer.Authorizer, resource, what string) *Changes {
	return &Changes{tenantrates.New(changesPerSecond, changesBurst), reviews, resource, what, time.Now}
}

// change is what a request has taken of the rate.
type change struct {
	root   string
	cost   int
	dryRun bool
	// several is set if the request is about several objects, some of which may have been written when it fails.
	several bool
}

type changeKey struct{}

// Begin returns a context for a request, and what to call when it has ended: however often the store tries it, it takes
// its cost once, and gives that back if it has certainly written nothing: one that ends in the middle may have.
func (r *Changes) Begin(ctx context.Context, dryRun []string) (context.Context, func(error)) {
	c := &change{dryRun: dryrun.IsDryRun(dryRun)}
	return context.WithValue(ctx, changeKey{}, c), func(err error) {
		if c.root != "" && !c.several && Rejected(err) {
			r.rates.GiveBack(r.now(), c.root, c.cost)
		}
	}
}

// Next has the next object of a request take a cost of its own. Nothing that such a request has taken is given back.
func Next(ctx context.Context) {
	if c, ok := ctx.Value(changeKey{}).(*change); ok {
		c.root, c.several = "", true
	}
}

// Rejected reports whether an error is the response to a request that has written nothing.
func Rejected(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code/100 == 4
}

// Allow returns an error if the tree of a root has been changed too often lately, for a request with the context of
// Begin. Dry runs change nothing, and what costs nothing is not limited.
func (r *Changes) Allow(ctx context.Context, root string, cost int, verb string) error {
	c, _ := ctx.Value(changeKey{}).(*change)
	if c == nil || c.root != "" || c.dryRun || cost <= 0 {
		return nil
	}
	if r.rates.Borrow(r.now(), root, cost) {
		c.root, c.cost = root, cost
		return nil
	}
	_, allowed, err := accessreview.Requester(ctx, r.reviews, authorizer.AttributesRecord{Verb: verb, APIGroup: hnc.GroupName, APIVersion: "*", Resource: r.resource})
	if err != nil || allowed {
		return err
	}
	return apierrors.NewTooManyRequests(fmt.Sprintf("%s in tree %q have been changed often lately; try again later", r.what, root), max(retryAfter, cost))
}
