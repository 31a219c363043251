package cache

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// EventHandlers are called with the state locked, so they must neither block nor call methods of the Cache that lock
// it. Nil ones are skipped.
type EventHandlers struct {
	// TreeChanged receives what a change of a namespace, a Hierarchy or a Subnamespace affects.
	TreeChanged func(*State, tree.Affected)
	// NamespaceChanged receives a namespace that was added or updated; old is nil if it was added.
	NamespaceChanged func(s *State, old, ns *tree.Namespace)
	// ObjectChanged receives a source or a copy that was added, updated or deleted; old is nil for the first, o for the
	// last. Objects of kinds that are not listed yet are left out.
	ObjectChanged func(s *State, kind int, old, o *copies.Object)
	// KindChanged is called when all objects of a kind have to be evaluated: they are listed, or have another policy in
	// the whole cluster.
	KindChanged func(s *State, kind int)
	// PoliciesChanged is called when the policies of a kind have changed in some trees.
	PoliciesChanged func(s *State, kind int, old modes.Policies)
	// KindStatusChanged is called when a kind has become readable or unreadable.
	KindStatusChanged func(s *State, kind int)
	// KindStopped is called when a kind is not watched any more.
	KindStopped func(s *State, kind int)
	// ConfigurationChanged receives the configuration before.
	ConfigurationChanged func(s *State, old *v1beta1.HNCConfiguration)
	// KindsAnnounced is called when the cluster may have other kinds than before.
	KindsAnnounced func(*State)
	// QuotaChanged receives a HierarchicalResourceQuota that was added, updated or deleted; old is nil for the first, q
	// for the last.
	QuotaChanged func(s *State, old, q *quotas.Quota)
	// QuotaObjectChanged does the same with a ResourceQuota that enforces such quotas.
	QuotaObjectChanged func(s *State, old, o *quotas.Object)
	// QuotaWebhookChanged is called when the registration of the webhook of quotas has changed.
	QuotaWebhookChanged func(s *State)
	// ViewChanged receives the namespace of a TenantView that was added, updated or deleted; "" once all are known.
	ViewChanged func(s *State, namespace string)
	// DefinitionChanged receives the namespace of a ViewDefinition, or of the view of a CustomResourceDefinition, that
	// was added, updated or deleted; "" once all are known. A new status of a ViewDefinition is no update.
	DefinitionChanged func(s *State, namespace string)
	// ReleaseRequested receives CopyReleases that nobody has carried out.
	ReleaseRequested func(*v1alpha3.CopyRelease)
}

type handlers []EventHandlers

func (hs handlers) kindsAnnounced(s *State) {
	for _, h := range hs {
		if h.KindsAnnounced != nil {
			h.KindsAnnounced(s)
		}
	}
}

func (hs handlers) viewChanged(s *State, namespace string) {
	for _, h := range hs {
		if h.ViewChanged != nil {
			h.ViewChanged(s, namespace)
		}
	}
}

func (hs handlers) definitionChanged(s *State, namespace string) {
	for _, h := range hs {
		if h.DefinitionChanged != nil {
			h.DefinitionChanged(s, namespace)
		}
	}
}

func (hs handlers) releaseRequested(r *v1alpha3.CopyRelease) {
	if len(r.Status.Conditions) > 0 || r.DeletionTimestamp != nil {
		return
	}
	for _, h := range hs {
		if h.ReleaseRequested != nil {
			h.ReleaseRequested(r)
		}
	}
}
