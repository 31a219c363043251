package admissionpolicy

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func repositoriesRows() []row {
	const manager = "hns-sync-policy"
	of := func(name string) option { return label(hnc.LabelRepositorySync, name) }
	managed := func(by string) option {
		return func(object metav1.Object) {
			object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: by, Operation: metav1.ManagedFieldsOperationApply}})
		}
	}
	more := label("a", "b")
	held := func(object metav1.Object) { object.SetFinalizers([]string{"example.com/hold"}) }
	const would = "Role team-a/reader would belong to the RepositorySync policy: leave out the label"
	const belongs = "Role team-a/reader belongs to the RepositorySync policy: leave its label hnc.x-k8s.io/repository-sync and its managedFields as they are"
	allows, asks := annotation(hnc.AnnotationAllowOverride, "true"), annotation(hnc.AnnotationOverride, "true")
	labeled := copyOf("acme")
	theirs := func(options ...option) *corev1.Namespace {
		return namespace("mine", append([]option{of("policy")}, options...)...)
	}
	clusterRole := func(options ...option) *rbacv1.ClusterRole {
		role := &rbacv1.ClusterRole{TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, ObjectMeta: metav1.ObjectMeta{Name: "reader"}}
		for _, o := range options {
			o(role)
		}
		return role
	}
	system := inNamespace("kube-system")
	const noCopy = "and is no copy: leave label hnc.x-k8s.io/inherited-from as it is"
	rows := ofServicesRows(hnc.LabelRepositorySync)
	for _, key := range []string{hnc.AnnotationSelect, hnc.AnnotationTreeSelect, hnc.AnnotationNone, hnc.AnnotationAll, hnc.AnnotationAllowOverride} {
		const where = "Role team-a/reader belongs to the RepositorySync policy, which says where it is propagated: leave its annotations propagate.hnc.x-k8s.io/*"
		set := annotation(key, "true")
		rows = append(rows, []row{
			{name: "repositories: where they are propagated stays: " + key, request: request{object: role(of("policy"), set), old: role(of("policy"))}, denied: where},
			{name: "repositories: also where they are propagated by " + key, request: request{object: role(of("policy")), old: role(of("policy"), set)}, denied: where},
		}...)
	}
	return append(rows, []row{
		{name: "repositories: the account creates objects", request: request{user: synchronizer, object: role(of("policy"))}},
		{name: "repositories: the account takes objects over", request: request{user: synchronizer, object: role(of("policy")), old: role()}},
		{name: "repositories: the account releases objects", request: request{user: synchronizer, object: role(), old: role(of("policy"))}},
		{name: "repositories: the account changes objects", request: request{user: synchronizer, manager: manager, object: role(of("policy"), more), old: role(of("policy"))}},
		{name: "repositories: not those of another", request: request{user: synchronizer, object: role(of("other"))}, denied: "would belong to the RepositorySync other"},
		{name: "repositories: it does not take over those of another", request: request{user: synchronizer, object: role(of("policy")), old: role(of("other"))},
			denied: "belongs to the RepositorySync other"},
		{name: "repositories: nobody else creates one", request: request{object: role(of("policy"))}, denied: would},
		{name: "repositories: nor a namespace", request: request{object: namespace("mine", of("policy"))}, denied: "Namespace mine/mine would belong"},
		{name: "repositories: an empty name is one", request: request{object: role(of(""))}, denied: "would belong to the RepositorySync "},
		{name: "repositories: no object becomes one", request: request{object: role(of("policy")), old: role()}, denied: would},
		{name: "repositories: not by a status update", request: request{subresource: "status", object: role(of("policy")), old: role()}, denied: would},
		{name: "repositories: none becomes another's", request: request{object: role(of("other")), old: role(of("policy"))}, denied: "would belong to the RepositorySync other"},
		{name: "repositories: none is hidden", request: request{object: role(), old: role(of("policy"))}, denied: belongs},
		{name: "repositories: none is hidden by a status update", request: request{subresource: "status", object: role(), old: role(of("policy"))}, denied: belongs},
		{name: "repositories: the field manager stays", request: request{object: role(of("policy")), old: role(of("policy"), managed(manager))}, denied: would},
		{name: "repositories: the field manager is not replaced", denied: would,
			request: request{object: role(of("policy"), managed("hns-sync-other")), old: role(of("policy"), managed(manager))}},
		{name: "repositories: nobody writes as the field manager", request: request{manager: manager, object: role(of("policy"), more), old: role(of("policy"))}, denied: would},
		{name: "repositories: objects are changed, which is drift", request: request{manager: "kubectl", object: role(of("policy"), more), old: role(of("policy"))}},
		{name: "repositories: objects are changed beside the field manager",
			request: request{object: role(of("policy"), more, managed(manager)), old: role(of("policy"), managed(manager))}},
		{name: "repositories: others use the field manager's name", request: request{manager: manager, object: role(more), old: role()}},
		{name: "repositories: what grants permissions gets no finalizers", denied: "Role team-a/reader belongs to the RepositorySync policy, and a finalizer would keep what it grants",
			request: request{object: role(of("policy"), held), old: role(of("policy"))}},
		{name: "repositories: nor through the status", denied: "and a finalizer would keep what it grants",
			request: request{subresource: "status", object: role(of("policy"), held), old: role(of("policy"))}},
		{name: "repositories: finalizers are removed", request: request{object: role(of("policy")), old: role(of("policy"), held)}},
		{name: "repositories: the account adds finalizers", request: request{user: synchronizer, object: role(of("policy"), held), old: role(of("policy"))}},
		{name: "repositories: others have finalizers", request: request{object: namespace("mine", of("policy"), held), old: namespace("mine", of("policy"))}},
		{name: "repositories: others propagate their objects elsewhere", request: request{object: role(annotation(hnc.AnnotationNone, "true")), old: role()}},
		{name: "repositories: the account changes where they are propagated",
			request: request{user: synchronizer, manager: manager, object: role(of("policy"), annotation(hnc.AnnotationNone, "true")), old: role(of("policy"))}},
		{name: "repositories: other annotations are changed, which is drift", request: request{object: role(of("policy"), allows, annotation("a", "b")), old: role(of("policy"), allows)}},
		{name: "repositories: objects are deleted, which is drift", request: request{old: role(of("policy"))}},
		{name: "repositories: the propagator copies them", request: request{user: hnc.PropagatorUser, object: role(copyOf("acme"), of("policy"))}},
		{name: "repositories: controllers write copies", request: request{subresource: "status", object: role(copyOf("acme"), of("policy")), old: role(copyOf("acme"), of("policy"))}},
		{name: "repositories: an override is nobody's", request: request{object: role(asks), old: role(copyOf("acme"), of("policy"), allows)}},
		{name: "repositories: an override does not claim to be one", request: request{object: role(asks, of("policy")), old: role(copyOf("acme"), of("policy"), allows)}, denied: would},

		{name: "repositories: a namespace does not become a copy", request: request{object: theirs(labeled), old: theirs()},
			denied: "Namespace mine/mine belongs to the RepositorySync policy " + noCopy},
		{name: "repositories: a namespace with the label of copies is not hidden", request: request{object: namespace("mine", labeled), old: theirs(labeled)},
			denied: "Namespace mine/mine belongs to the RepositorySync policy: leave its label"},
		{name: "repositories: nor becomes another's", request: request{object: namespace("mine", labeled, of("other")), old: theirs(labeled)},
			denied: "would belong to the RepositorySync other"},
		{name: "repositories: nor is claimed", request: request{object: theirs(labeled), old: namespace("mine", labeled)}, denied: "would belong to the RepositorySync policy"},
		{name: "repositories: nor is changed as the field manager", request: request{manager: manager, object: theirs(labeled, more), old: theirs(labeled)},
			denied: "would belong to the RepositorySync policy"},
		{name: "repositories: nor loses both labels at once", request: request{object: namespace("mine"), old: theirs(labeled)}, denied: "belongs to the RepositorySync policy"},
		{name: "repositories: the field manager of a namespace with the label of copies stays", request: request{object: theirs(labeled), old: theirs(labeled, managed(manager))},
			denied: "would belong to the RepositorySync policy"},
		{name: "repositories: a namespace with the label of copies is changed, which is drift", request: request{object: theirs(labeled, more), old: theirs(labeled)}},
		{name: "repositories: a ClusterRole with the label of copies is not hidden", request: request{object: clusterRole(labeled), old: clusterRole(labeled, of("policy"))},
			denied: "ClusterRole reader belongs to the RepositorySync policy"},
		{name: "repositories: the account gives a namespace the label of copies", request: request{user: synchronizer, object: theirs(labeled), old: theirs()}},

		{name: "repositories: in excluded namespaces, none becomes a copy", request: request{object: role(system, of("policy"), labeled), old: role(system, of("policy"))},
			denied: "Role kube-system/reader belongs to the RepositorySync policy " + noCopy},
		{name: "repositories: in excluded namespaces, a copy is none", request: request{object: role(system, labeled), old: role(system, of("policy"), labeled)},
			denied: "Role kube-system/reader belongs to the RepositorySync policy: leave its label"},
		{name: "repositories: in excluded namespaces, a copy is not claimed", request: request{object: role(system, of("policy"), labeled), old: role(system, labeled)},
			denied: "Role kube-system/reader would belong to the RepositorySync policy"},
		{name: "repositories: in excluded namespaces, both labels stay", request: request{object: role(system), old: role(system, of("policy"), labeled)},
			denied: "Role kube-system/reader belongs to the RepositorySync policy"},
		{name: "repositories: in excluded namespaces, objects are changed, which is drift", request: request{object: role(system, of("policy"), more), old: role(system, of("policy"))}},
	}...)
}
