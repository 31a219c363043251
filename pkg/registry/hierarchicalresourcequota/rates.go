package hierarchicalresourcequota

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/largeobjects"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/review"
)

const (
	// changesPerSecond and changesBurst bound the changes of limits, half of them in one tree. Each has the decisions
	// of all trees that are under way made again.
	changesPerSecond = 2
	changesBurst     = 60
	// namespacesOfChange is how many namespaces below a quota cost as much as one more change: hns-propagator determines
	// the limits of each.
	namespacesOfChange = 500
	// retryAfter is after how many seconds clients repeat a request of the lowest cost.
	retryAfter = 2
)

// costOf returns what a change of limits costs the tree, by the number of namespaces below them.
func costOf(below int) int { return min(1+below/namespacesOfChange, changesBurst/2) }

// rates limit how often the limits of a tree are changed, by users who may not change those of all trees.
type rates struct {
	*largeobjects.Rates
	reviews authorizer.Authorizer
	now     func() time.Time
}

func newRates(reviews authorizer.Authorizer) rates {
	return rates{largeobjects.NewRates(changesPerSecond, changesBurst), reviews, time.Now}
}

// change is what a request has taken of the rate.
type change struct {
	root string
	cost int
}

type changeKey struct{}

// begin returns a context for a request, and what to call when it has ended: however often the store tries it, it takes
// its cost once, and gives that back if it has certainly written nothing: one that ends in the middle may have.
func (r rates) begin(ctx context.Context) (context.Context, func(error)) {
	c := &change{}
	return context.WithValue(ctx, changeKey{}, c), func(err error) {
		if c.root != "" && rejected(err) {
			r.GiveBack(r.now(), c.root, c.cost)
		}
	}
}

// rejected reports whether an error is the response to a request that has written nothing.
func rejected(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code/100 == 4
}

// allow returns an error if the limits in the tree of a root have been changed too often lately. Dry runs change none.
func (r rates) allow(ctx context.Context, root string, cost int, verb string, dryRun []string) error {
	c, _ := ctx.Value(changeKey{}).(*change)
	if dryrun.IsDryRun(dryRun) || c != nil && c.root != "" {
		return nil
	}
	if r.Borrow(r.now(), root, cost) {
		if c != nil {
			c.root, c.cost = root, cost
		}
		return nil
	}
	_, allowed, err := review.Requester(ctx, r.reviews, authorizer.AttributesRecord{Verb: verb, APIGroup: hnc.GroupName, APIVersion: "*", Resource: "hierarchicalresourcequotas"})
	if err != nil || allowed {
		return err
	}
	return apierrors.NewTooManyRequests(fmt.Sprintf("limits in tree %q have been changed often lately; try again later", root), max(retryAfter, cost))
}
