package reservations

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
)

const (
	// small is the size of what an operation writes, in bytes, up to which it is not limited. An operation writes one
	// record of use, and the ledgers of all ancestors with quotas. With a dozen resources at several levels that is
	// half as much.
	small = 8 << 10
	// perSecond and burst bound the rest. etcd has what was replaced until the next compaction.
	perSecond = 512 << 10
	burst     = 16 << 20
	// longestDebt bounds the debt of a tree. It is longer than a tree's burst takes, so that what the tree owes beyond
	// it is no debt of others.
	longestDebt = 2 * burst / perSecond * time.Second
)

// pace counts what an operation writes for the tree of a root, with the ledgers of the given namespaces. The result is
// TooManyRequests for a large reservation while too much has been written. Other operations count, but do not wait:
// they record use that exists, or that is released after a reservation.
func (t *transaction) pace(o *operation, updated *use, ledgers []string, enforced map[string]limits.Enforced, root string) (result error) {
	bytes := quota.ListSize(updated.Used) + quota.ListSize(updated.Reserved)
	for _, ledger := range ledgers {
		for _, list := range t.known(ledger, enforced[ledger]) {
			bytes += quota.ListSize(list)
		}
	}
	if bytes <= small {
		return nil
	}
	if o.reserve != nil && !t.ledger.rates.Allow(time.Now(), root, 0) {
		return apierrors.NewTooManyRequests(fmt.Sprintf("the use of hierarchical quotas in namespace %q and above has %d bytes, and has been recorded often lately; "+
			"try again later, or remove resources with long names from the quotas", o.namespace, bytes), noDelay)
	}
	t.large[root] += bytes - small
	return nil
}
