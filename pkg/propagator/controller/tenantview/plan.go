package tenantview

import (
	"fmt"
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// action is what to do with the grant in a namespace.
type action int

const (
	keep action = iota
	create
	remove
)

// plan is what a namespace needs.
type plan struct {
	action action
	// grant is what is to be removed.
	grant *copies.Object
	// view is the TenantView with the status that it must have, nil if it has that.
	view *v1alpha3.TenantView
}

// newPlan decides what a namespace needs. Unavailable says why the gateway cannot be used, "" if it can.
func newPlan(s *cache.State, namespace, unavailable string, now metav1.Time) plan {
	var p plan
	grant, known := grantIn(s, namespace)
	view := s.Views[namespace]
	own := grant != nil && !grant.Copy
	switch wanted := grants(s, namespace) && !inherits(s, namespace); {
	case !known || !s.ViewsListed:
		// A missing record removes nothing.
	case wanted && !own && !s.Tree.Frozen(namespace) && !s.Tree.Excluded(namespace):
		p.action = create
	case !wanted && own && !grant.Terminating:
		p.action, p.grant = remove, grant
	}
	if view != nil && view.DeletionTimestamp == nil {
		status := statusOf(s, view, grant != nil && !grant.Terminating, unavailable, now)
		if !apiequality.Semantic.DeepEqual(status, view.Status) {
			p.view = view.DeepCopy()
			p.view.Status = status
		}
	}
	return p
}

// grantIn returns the grant in a namespace, its own or a copy; known is false while RoleBindings are not listed.
func grantIn(s *cache.State, namespace string) (grant *copies.Object, known bool) {
	kind, registered := s.KindOf(copies.RoleBindings.GroupResource())
	if !registered || !s.Kind(kind).Synced {
		return nil, false
	}
	return s.Kind(kind).Index.Get(namespace, hnc.ViewGrant), true
}

// grants reports whether a namespace has the grant because of a TenantView in it. One that is being deleted grants
// nothing.
func grants(s *cache.State, namespace string) bool {
	view := s.Views[namespace]
	return view != nil && view.DeletionTimestamp == nil
}

// inherits reports whether a namespace has a copy of the grant of an ancestor, or is to get one.
func inherits(s *cache.State, namespace string) bool {
	return slices.ContainsFunc(s.Tree.Ancestors(namespace), func(ancestor string) bool { return grants(s, ancestor) })
}

// maxShadowed bounds the list in a status.
const maxShadowed = 100

// statusOf returns the status that a TenantView must have.
func statusOf(s *cache.State, view *v1alpha3.TenantView, granted bool, unavailable string, now metav1.Time) v1alpha3.TenantViewStatus {
	root := view.Namespace
	members := map[string]time.Time{}
	for _, name := range append(s.Tree.Descendants(root), root) {
		if ns := s.Tree.Namespace(name); ns != nil {
			members[name] = ns.Created.Time
		}
	}
	names := mapping.NewNames(mapping.Of(view, func(name string) (time.Time, bool) { created, ok := members[name]; return created, ok }))
	var shadowed []string
	for name := range members {
		if names.Shadowed(name) {
			shadowed = append(shadowed, name)
		}
	}
	slices.Sort(shadowed)
	status := v1alpha3.TenantViewStatus{
		ObservedGeneration: view.Generation, Server: hnc.ViewPath(root),
		Members: int32(len(members)), Shadowed: shadowed[:min(len(shadowed), maxShadowed)], //nolint:gosec // fewer than 2³¹
		Conditions: slices.Clone(view.Status.Conditions),
	}
	ready := metav1.Condition{Type: hnc.ConditionReady, Status: metav1.ConditionFalse, ObservedGeneration: view.Generation, LastTransitionTime: now}
	switch excluded := s.Tree.WhyExcluded(root); {
	case excluded != "":
		ready.Reason, ready.Message = hnc.ReasonNotInHierarchy, fmt.Sprintf("namespace %q takes no part in hierarchies: %s", root, excluded)
	case !granted:
		ready.Reason, ready.Message = hnc.ReasonNotGranted, fmt.Sprintf("namespace %q has no RoleBinding %s yet, which lets hns-gateway act as the callers of requests", root, hnc.ViewGrant)
	case unavailable != "":
		ready.Reason, ready.Message = hnc.ReasonGatewayUnavailable, unavailable
	default:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, hnc.ReasonReady, "the view can be used"
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	unique := metav1.Condition{
		Type: hnc.ConditionNamesUnique, Status: metav1.ConditionTrue, ObservedGeneration: view.Generation, LastTransitionTime: now,
		Reason: hnc.ReasonReady, Message: "the view shows all namespaces of the subtree",
	}
	if len(shadowed) > 0 {
		unique.Status, unique.Reason = metav1.ConditionFalse, hnc.ReasonNamesShadowed
		unique.Message = fmt.Sprintf("%d namespaces are not shown, because others have their names in the view: see status.shadowed", len(shadowed))
	}
	meta.SetStatusCondition(&status.Conditions, unique)
	return status
}
