package hierarchicalresourcequota

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/largeobjects"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/review"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

const (
	// changesPerSecond and changesBurst bound the changes of limits, half of them in one tree. Each has the decisions
	// of all trees that are under way made again.
	changesPerSecond = 2
	changesBurst     = 60
	// retryAfter is after how many seconds clients repeat a request.
	retryAfter = 2
)

// rates limit how often the limits of a tree are changed, by users who may not change those of all trees.
type rates struct {
	*largeobjects.Rates
	reviews authorizer.Authorizer
	now     func() time.Time
}

func newRates(reviews authorizer.Authorizer) rates {
	return rates{largeobjects.NewRates(changesPerSecond, changesBurst), reviews, time.Now}
}

// allow returns an error if the limits in the tree of a root have been changed too often lately. Dry runs change none, and
// a write that fails after this, as one of an invalid quota does, has not changed them.
func (r rates) allow(ctx context.Context, root, verb string, dryRun []string) (genericregistry.FinishFunc, error) {
	if dryrun.IsDryRun(dryRun) {
		return base.FinishNothing, nil
	}
	if r.Allow(r.now(), root, 1) {
		return func(_ context.Context, written bool) {
			if !written {
				r.Return(r.now(), root, 1)
			}
		}, nil
	}
	_, allowed, err := review.Requester(ctx, r.reviews, authorizer.AttributesRecord{Verb: verb, APIGroup: hnc.GroupName, APIVersion: "*", Resource: "hierarchicalresourcequotas"})
	if err != nil || allowed {
		return base.FinishNothing, err
	}
	return nil, apierrors.NewTooManyRequests(fmt.Sprintf("limits in tree %q have been changed often lately; try again later", root), retryAfter)
}
