package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/reservations"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/reviews"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sourceindex"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// quotaAdmission serves the admission reviews for hierarchical quotas, as soon as the server is complete.
type quotaAdmission struct {
	ledger *reservations.Ledger
	// in returns the quotas in a namespace, as the cache knows them.
	in    func(ctx context.Context, namespace string) ([]hnc.HierarchicalResourceQuota, error)
	ready []func() bool
}

func (q *quotaAdmission) Reserve(ctx context.Context, old, updated *corev1.ResourceQuota) error {
	return q.ledger.Reserve(ctx, old, updated)
}

// Settle records the use that was there before a quota, unless its sum is not reserved.
func (q *quotaAdmission) Settle(ctx context.Context, written *hnc.HierarchicalResourceQuota) error {
	if !reserved(written) {
		return nil
	}
	return q.ledger.Settle(ctx, written, written.Namespace)
}

// SettleMoved returns a function that records the use that a moved namespace and its descendants bring below the quotas
// of ancestors that they did not have before; nil if these have no quotas.
func (q *quotaAdmission) SettleMoved(ctx context.Context, namespace string, gained []string) func(context.Context) error {
	var above []hnc.HierarchicalResourceQuota
	for _, ancestor := range gained {
		quotas, err := q.in(ctx, ancestor)
		if err != nil {
			return func(context.Context) error { return err }
		}
		for _, of := range quotas {
			if reserved(&of) && len(quota.Counted(of.Status.Hard)) > 0 {
				above = append(above, of)
			}
		}
	}
	if len(above) == 0 {
		return nil
	}
	return func(ctx context.Context) error {
		for i := range above {
			if err := q.ledger.Settle(ctx, &above[i], namespace); err != nil {
				return err
			}
		}
		return nil
	}
}

func reserved(q *hnc.HierarchicalResourceQuota) bool {
	c := meta.FindStatusCondition(q.Status.Conditions, hnc.ConditionReady)
	return c != nil && c.Reason == hnc.ReasonQuotaReserved
}

// Subtrees returns recorded use.
func (q *quotaAdmission) Subtrees(ctx context.Context, moved, tops []string) (treerules.ScopedUse, map[string]treerules.ScopedUse, error) {
	return q.ledger.Subtrees(ctx, moved, tops)
}

// Ready returns an error until the caches are complete.
func (q *quotaAdmission) Ready(*http.Request) error {
	for _, ready := range q.ready {
		if !ready() {
			return errors.New("the caches are not complete; try again")
		}
	}
	if q.ledger == nil {
		return errors.New("the server has not started")
	}
	return nil
}

func (q *quotaAdmission) withReviews(next http.Handler) http.Handler {
	return &reviews.Handler{Ledger: q, Ready: q.Ready, Serializer: served{Codecs}, Next: next}
}

// quotas runs the ledger of hierarchical quotas.
func (c CompletedConfig) quotas(generic *genericapiserver.GenericAPIServer, client kubernetes.Interface, namespaces coreinformers.NamespaceInformer,
	t *treerules.Tree, records *fence.Records, reader *limits.Reader, s *sourceindex.Sources) error {
	reservations.RegisterMetrics()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.LabelSelector = hnc.LabelQuota + "=true"
	}), informers.WithTransform(reservations.OnlyUse))
	quotas := factory.Core().V1().ResourceQuotas()
	l := reservations.New(reservations.Config{
		Records: records, Limits: reader, Tree: t.Index, Propagated: s.Propagated, Namespaces: namespaces.Lister(), Quotas: quotas.Lister(),
		Terminating: func() ([]string, error) {
			return namespaces.Informer().GetIndexer().IndexKeys(byTermination, terminating)
		},
	})
	observer, err := reservations.NewObserver(l, client, quotas.Informer(), namespaces.Informer())
	if err != nil {
		return fmt.Errorf("hierarchical quotas: %w", err)
	}
	c.quotaAdmission.ready = []func() bool{
		quotas.Informer().HasSynced, namespaces.Informer().HasSynced, func() bool { return t.Index.Ready(nil) == nil }, s.ModesKnown,
	}
	c.quotaAdmission.ledger = l
	return generic.AddPostStartHook("hierarchical-quotas", func(hook genericapiserver.PostStartHookContext) error {
		factory.Start(hook.Done())
		go l.Run(hook)
		go observer.Run(hook)
		return nil
	})
}

// listQuotas returns all hierarchical quotas, as of a revision that is not before the call. It may be referred to
// before the stores exist.
func (s *stores) listQuotas(ctx context.Context) ([]hnc.HierarchicalResourceQuota, error) {
	return s.quotasIn(ctx, metav1.NamespaceAll, "")
}

// cachedQuotas returns the quotas in a namespace from the watch cache.
func (s *stores) cachedQuotas(ctx context.Context, namespace string) ([]hnc.HierarchicalResourceQuota, error) {
	return s.quotasIn(ctx, namespace, "0")
}

func (s *stores) quotasIn(ctx context.Context, namespace, resourceVersion string) ([]hnc.HierarchicalResourceQuota, error) {
	list, err := s.quotas.Quota.List(genericapirequest.WithNamespace(ctx, namespace), &metainternalversion.ListOptions{ResourceVersion: resourceVersion})
	if err != nil {
		return nil, err
	}
	return list.(*hnc.HierarchicalResourceQuotaList).Items, nil
}
