package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Revoke takes away what an object of RBAC grants that the RepositorySync has applied, and that the repository does not. It
// leaves that to Apply, and returns true, if applying the object grants nothing that it does not grant already. err is that
// of Apply, nil if that has not been tried; unless it is a rejection, another attempt has to take it away.
func (c *Cluster) Revoke(ctx context.Context, o *plan.Object, err error) (bool, error) {
	tried := err != nil
	known, harmless := c.isHarmless(o)
	if tried && !definite(err) || !tried && harmless {
		return false, nil
	}
	resource, err := c.ResourceOf(o)
	if err != nil {
		return false, err
	}
	live, err := c.whole.Resource(resource).Namespace(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		c.setHarmless(o, known, false)
		return false, nil
	}
	if err != nil || o.Reduces(live) && (!tried || o.Handling == plan.CreateOnly) {
		return err == nil, err
	}
	narrowed, grantsMore := o.Narrow(live)
	applied := live.GetLabels()[hnc.LabelRepositorySync] == c.sync && Foreign(c.sync, live) == nil
	switch {
	case !grantsMore || !applied:
		c.setHarmless(o, known, tried)
		return false, nil
	case narrowed == nil:
		return false, c.Delete(ctx, o.ID)
	}
	if err := c.Apply(ctx, narrowed); !definite(err) {
		return false, err
	}
	// Something else may be rejected, such as a label, or that it grants anything at all.
	field := o.GrantsIn()
	metadata := map[string]any{"uid": live.GetUID()}
	if keys := o.Aggregations(live); len(keys) > 0 {
		labels := map[string]any{}
		for _, key := range keys {
			labels[key] = nil
		}
		metadata["labels"] = labels
	}
	taken := map[string]any{"metadata": metadata, field: narrowed.Content().Object[field]}
	if live.Object["aggregationRule"] != nil {
		taken["aggregationRule"] = nil // A controller would grant it again.
	}
	patch, err := json.Marshal(taken)
	if err != nil {
		return false, err
	}
	live, err = c.whole.Resource(resource).Namespace(o.Namespace).Patch(ctx, o.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: Manager(c.sync)})
	if err == nil {
		_, grantsMore = o.Narrow(live)
	}
	if err == nil && grantsMore || definite(err) {
		return false, c.Delete(ctx, o.ID)
	}
	return false, err
}

// definite reports whether an object cannot be applied as it is, and not only at the moment.
func definite(err error) bool {
	return plan.Rejected(err) || crowded(err) || errors.Is(err, errTerminating)
}

// lookAgain is how long Revoke relies on what it has found: no watch shows objects without the label.
const lookAgain = 5 * time.Minute

// sight is an object of the repository, and the version of it in the cluster that was known when it was read; 0 if no
// watch shows it.
type sight struct{ hash, version uint64 }

// isHarmless returns what is known of an object, and whether Revoke has found nothing to take away from that.
func (c *Cluster) isHarmless(o *plan.Object) (sight, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := sight{o.Hash, c.live[o.ID].Version}
	last, exists := c.harmless[o.ID]
	return known, exists && last == known
}

// setHarmless records that there is nothing to take away from an object, unless applying it was tried: it may be one that
// Reduces leaves to Apply.
func (c *Cluster) setHarmless(o *plan.Object, known sight, tried bool) {
	if tried {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.harmless[o.ID] = known
}
