package subnamespace

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

const (
	// refusedRetry is after how long at least a required child or sub-namespace whose creation was refused is tried again.
	// Any number of them may be refused for ever: of one parent, another one is tried refusedPace later, and of one tree,
	// which has other tenants, refusedTreePace later. Those that are due at the same time have the same chance.
	refusedRetry, refusedPace, refusedTreePace = 10 * time.Second, time.Second, time.Second / 10
)

// require creates a Subnamespace that its parent requires. A condition of the parent's Hierarchy reports rejections,
// which are retried at the pace of the parent and the tree.
func (c *Controller) require(ctx context.Context, key tree.Key) error {
	// A namespace that exists already keeps its labels and annotations.
	var metadata tree.Metadata
	var refused string
	c.Cache.Read(func(state *cache.State) {
		metadata, refused = state.Tree.Metadata(key.Name), state.Tree.Refused(key)
	})
	again := queue.Key{Class: queue.Subnamespace, Namespace: key.Parent, Name: key.Name}
	if refused != "" && c.refusedLately(key.Parent) {
		c.Urgent.AddAfter(again, wait.Jitter(refusedRetry, 1))
		return nil
	}
	created, err := c.Hierarchy.HncV1beta1().Subnamespaces(key.Parent).Create(ctx, &v1beta1.Subnamespace{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Parent, Name: key.Name, Annotations: map[string]string{hnc.AnnotationRequired: "true"}},
		Spec: v1beta1.SubnamespaceSpec{
			Labels: metadata.Labels, Annotations: metadata.Annotations,
			NamespaceLabels: metadata.NamespaceLabels, NamespaceAnnotations: metadata.NamespaceAnnotations,
		},
	}, metav1.CreateOptions{})
	recorded := outcome.Record(c.Metrics, "Subnamespace", "create", key.Parent, err, func() { c.Cache.ObserveSubnamespace(created) })
	if outcome.Rejected(err) && !apierrors.IsAlreadyExists(err) && !copies.Gone(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		c.Cache.Update(func(state *cache.State) { state.SetRefused(key, names.ShortenText(err.Error())) })
		if refused != "" {
			c.refusedAgain(key.Parent)
		}
		c.Urgent.AddAfter(again, refusedRetry)
		return nil
	}
	return recorded
}

// refusedAgain delays further tries after one for a child of a parent was refused again.
func (c *Controller) refusedAgain(parent string) {
	c.refusals.Start(parent)
	c.treeRefusals.Start(c.Cache.Root(parent))
}

// refusedLately reports whether such a try was refused in the parent or its tree just now.
func (c *Controller) refusedLately(parent string) bool {
	return c.refusals.Remaining(parent) > 0 || c.treeRefusals.Remaining(c.Cache.Root(parent)) > 0
}

// requirement returns the condition that reports whether the parent requires the Subnamespace, none for one that was
// created otherwise and is not required.
func requirement(t *tree.Tree, s *tree.Subnamespace) []metav1.Condition {
	switch {
	case t.Requires(s.Key):
		return []metav1.Condition{{Type: hnc.ConditionRequired, Status: metav1.ConditionTrue, Reason: hnc.ReasonRequired,
			Message: fmt.Sprintf("the hierarchy of namespace %q requires it; if it is deleted, it is created again", s.Parent)}}
	case s.Required:
		return []metav1.Condition{{Type: hnc.ConditionRequired, Status: metav1.ConditionFalse, Reason: hnc.ReasonNotRequired,
			Message: fmt.Sprintf("the hierarchy of namespace %q does not require it any more; it stays until it is deleted: kubectl delete subns %s -n %s",
				s.Parent, s.Name, s.Parent)}}
	}
	return nil
}
