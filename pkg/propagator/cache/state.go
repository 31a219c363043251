package cache

import (
	"cmp"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// State is what a Cache holds. It is accessed only through Read and Update of the Cache, and by event handlers.
type State struct {
	// Tree holds the namespaces, hierarchies and Subnamespaces.
	Tree *tree.Tree
	// Configuration is the cluster's, nil if there is none.
	Configuration *v1beta1.HNCConfiguration
	// Quotas holds the HierarchicalResourceQuotas and the ResourceQuotas that enforce them.
	Quotas *quotas.Store
	// QuotaWebhook is the registration of their webhook, nil if there is none.
	QuotaWebhook *admissionv1.ValidatingWebhookConfiguration

	// Views are the TenantViews by their namespaces. ViewsListed reports that they are complete.
	Views       map[string]*v1alpha3.TenantView
	ViewsListed bool
	// Definitions are the ViewDefinitions and their CustomResourceDefinitions.
	Definitions *Definitions

	// kinds are all that were ever watched. Their positions identify them.
	kinds      []*Kind
	byResource map[schema.GroupResource]int
	versions   versions
	handlers   handlers
	roots      *roots
	// configured reports that the kinds were set to the configured ones.
	configured bool
}

func newState(t *tree.Tree, r *roots) *State {
	return &State{Tree: t, Quotas: quotas.New(), roots: r, Views: map[string]*v1alpha3.TenantView{}, Definitions: newDefinitions(), byResource: map[schema.GroupResource]int{}, versions: versions{}}
}

// AddEventHandlers adds handlers. They are not called for what the state holds already.
func (s *State) AddEventHandlers(handlers EventHandlers) { s.handlers = append(s.handlers, handlers) }

// affect updates what is derived from the tree, and notifies the handlers.
func (s *State) affect(affected tree.Affected) {
	s.roots.update(s.Tree, affected.Moved)
	s.forgetPolicies(affected.Moved)
	for _, h := range s.handlers {
		if h.TreeChanged != nil {
			h.TreeChanged(s, affected)
		}
	}
}

func (s *State) setNamespace(ns *tree.Namespace) {
	old := s.Tree.Namespace(ns.Name)
	for _, h := range s.handlers {
		if h.NamespaceChanged != nil {
			h.NamespaceChanged(s, old, ns)
		}
	}
	s.affect(s.Tree.SetNamespace(ns))
}

// deleteNamespace forgets a namespace unless another incarnation is recorded, and its ResourceQuotas, which are gone
// before it. Their watch may be later, and they must not count as limits of the next namespace of that name.
func (s *State) deleteNamespace(ns *tree.Namespace) {
	if known := s.Tree.Namespace(ns.Name); known != nil && known.UID == ns.UID {
		for _, o := range s.Quotas.ObjectsIn(ns.Name) {
			s.deleteQuotaObject(o)
		}
	}
	s.affect(s.Tree.DeleteNamespace(ns.Name, ns.UID))
}

// setConfiguration records the configuration, nil if there is none, unless the recorded one is as new.
func (s *State) setConfiguration(c *v1beta1.HNCConfiguration) {
	old := s.Configuration
	if old != nil && c != nil && old.UID == c.UID && !tree.Newer(c.ResourceVersion, old.ResourceVersion) {
		return
	}
	s.Configuration = c
	s.Tree.SetCreatorRole("")
	if c != nil {
		s.Tree.SetCreatorRole(c.Spec.CreatorRole)
	}
	for _, h := range s.handlers {
		if h.ConfigurationChanged != nil {
			h.ConfigurationChanged(s, old)
		}
	}
}

// objectChanged notifies the handlers of a changed object; old or o is nil if there was or is none.
func (s *State) objectChanged(kind int, old, o *copies.Object) {
	s.recordHeld(kind, old, o)
	s.recordUncopied(kind, old, o)
	if !s.kinds[kind].Synced {
		return
	}
	for _, h := range s.handlers {
		if h.ObjectChanged != nil {
			h.ObjectChanged(s, kind, old, o)
		}
	}
}

// recordHeld records whether finalizers keep a deleted copy, which the namespace's Hierarchy reports.
func (s *State) recordHeld(kind int, old, o *copies.Object) {
	s.recordMember(kind, old, o, (*copies.Object).Held, s.Tree.SetHeld)
}

// recordUncopied records whether a source has no copies because of its name, which the namespace's Hierarchy reports.
func (s *State) recordUncopied(kind int, old, o *copies.Object) {
	s.recordMember(kind, old, o, (*copies.Object).Unaddressable, s.Tree.SetUncopied)
}

func (s *State) recordMember(kind int, old, o *copies.Object, member func(*copies.Object) bool, set func(namespace, resource, name string, member bool) bool) {
	is := member(o)
	if is == member(old) {
		return
	}
	either := cmp.Or(o, old)
	if set(either.Namespace, s.kinds[kind].Index.Kind.GroupResource().String(), either.Name, is) {
		s.affect(tree.Affected{Changed: []string{either.Namespace}})
	}
}

// SetTreeConditions records the conditions of hierarchies that concern kinds, by namespace.
func (s *State) SetTreeConditions(conditions map[string][]metav1.Condition) {
	if changed := s.Tree.SetKindConditions(conditions); len(changed) > 0 {
		s.affect(tree.Affected{Changed: changed})
	}
}

// SetRefused records why a required Subnamespace could not be created.
func (s *State) SetRefused(key tree.Key, reason string) { s.affect(s.Tree.SetRefused(key, reason)) }

// SetUnwritten records why the labels or annotations of a namespace could not be written, "" if they could.
func (s *State) SetUnwritten(namespace, reason string) {
	s.affect(s.Tree.SetUnwritten(namespace, reason))
}

// ObserveCopy enters the result of our own write of a copy, unless the watch is past it.
func (s *State) ObserveCopy(kind int, w copies.Write, written copies.Written) {
	k := s.kinds[kind]
	if !k.Synced || k.Index.Kind != w.Kind {
		return // The kind was given up, or is another version now.
	}
	if w.Verb == copies.Delete {
		if k.Index.Get(w.Namespace, w.Name).Held() {
			return // Finalizers keep it, as the watch has brought already. The watch will bring its end.
		}
		if old := k.Index.Delete(w.Namespace, w.Name, w.Present.UID); old != nil {
			s.objectChanged(kind, old, nil)
		}
		return
	}
	ahead := s.versions.ahead(w.Kind.GroupResource().String(), written.ResourceVersion)
	old := k.Index.Wrote(w.Source, w.Namespace, written, ahead)
	// Otherwise the handlers were called when the watch brought it.
	if ahead {
		s.objectChanged(kind, old, k.Index.Get(w.Namespace, w.Name))
	}
}
