package quota

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// reportFailure records why the ResourceQuotas of a namespace can't be written, and emits an event about each quota
// that governs it, unless it was recorded before.
func (c *Controller) reportFailure(namespace string, err error) {
	message := fmt.Sprintf("could not create/update lower-level ResourceQuota in namespace %q: %s", namespace, names.ShortenText(err.Error()))
	var governing []*quotas.Quota
	c.Cache.Read(func(s *cache.State) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failures[namespace] != message {
			governing = s.Quotas.Governing(s.Tree, namespace)
		}
		c.failures[namespace] = message
	})
	for _, q := range governing {
		c.Events.Event(reference(q), corev1.EventTypeWarning, hnc.EventCannotWriteQuota, message)
		c.enqueueStatus(q.Key)
	}
}

func reference(q *quotas.Quota) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "HierarchicalResourceQuota",
		Namespace: q.Namespace, Name: q.Name, UID: q.UID, ResourceVersion: q.ResourceVersion,
	}
}
