package admissionpolicy

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// binding returns a RoleBinding in team-a.
func binding(name string, options ...option) *rbacv1.RoleBinding {
	binding := &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, ResourceVersion: "7"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: hnc.ViewGrantRole},
	}
	for _, o := range options {
		o(binding)
	}
	return binding
}

func viewGrantsRows() []row {
	const denied = "only the propagator writes RoleBinding team-a/hns-view, which belongs to a TenantView"
	grant := binding(hnc.ViewGrant)
	ending := inNamespace("ending")
	named := func(name string, options ...option) *rbacv1.Role {
		return role(append(options, func(o metav1.Object) { o.SetName(name) })...)
	}
	customResources := hnc.ViewRoleName("acme", hnc.CustomResources)
	const deniedRole = "only the propagator writes Role team-a/view:acme:custom-resources, which belongs to a TenantView"
	return []row{
		{name: "view grants: the propagator creates one", request: request{user: hnc.PropagatorUser, object: grant}},
		{name: "view grants: the propagator deletes one", request: request{user: hnc.PropagatorUser, old: grant}},
		{name: "view grants: any other RoleBinding", request: request{object: binding("hns-views"), old: binding("hns-views", label("a", "b"))}},
		{name: "view grants: none in an excluded namespace", request: request{object: binding(hnc.ViewGrant, inNamespace("kube-system"))}},
		{name: "view grants: copies are up to the policy on copies", request: request{object: binding(hnc.ViewGrant, copyOf("acme")), old: binding(hnc.ViewGrant, copyOf("acme"))}},
		{name: "view grants: nobody else creates one", request: request{object: grant}, denied: denied},
		{name: "view grants: nor one that looks like a copy", request: request{object: binding(hnc.ViewGrant, copyOf("acme"))}, denied: "hns-view"},
		{name: "view grants: nobody else changes one", request: request{object: binding(hnc.ViewGrant, annotation(hnc.AnnotationNone, "true")), old: grant}, denied: denied},
		{name: "view grants: nobody else deletes one", request: request{old: grant}, denied: denied},
		{name: "view grants: nor with a collection", request: request{old: grant, collection: true}, denied: denied},
		{name: "view grants: nor the namespace controller", request: request{user: namespaceController, old: grant}, denied: denied},
		{name: "view grants: one goes with its namespace", request: request{user: namespaceController, old: binding(hnc.ViewGrant, ending)}},
		{name: "view grants: tenants don't delete one before its namespace goes", request: request{old: binding(hnc.ViewGrant, ending)},
			denied: "only the propagator writes RoleBinding ending/hns-view"},
		{name: "view grants: the propagator creates a Role for custom resources", request: request{user: hnc.PropagatorUser, object: named(customResources)}},
		{name: "view grants: any other Role", request: request{object: named(hnc.ViewGrant)}},
		{name: "view grants: other Roles of views", request: request{object: named("view:acme:my:custom-resources")}},
		{name: "view grants: nobody else creates a Role for custom resources", request: request{object: named(customResources)}, denied: deniedRole},
		{name: "view grants: nobody else changes such a Role", request: request{object: named(customResources, annotation(hnc.AnnotationNone, "true")), old: named(customResources)}, denied: deniedRole},
		{name: "view grants: nobody else deletes such a Role", request: request{old: named(customResources)}, denied: deniedRole},
		{name: "view grants: such a Role goes with its namespace", request: request{user: namespaceController, old: named(customResources, ending)}},
	}
}
