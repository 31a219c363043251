package admissionpolicy

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// resourceQuota returns a ResourceQuota in team-a.
func resourceQuota(name string, options ...option) *corev1.ResourceQuota {
	quota := &corev1.ResourceQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name},
		Spec:       corev1.ResourceQuotaSpec{Hard: pods("3")},
	}
	for _, o := range options {
		o(quota)
	}
	return quota
}

func pods(quantity string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourcePods: resource.MustParse(quantity)}
}

func resourceQuotasRows() []row {
	const scoped = hnc.ResourceQuotaName + ".0123456789abcdef"
	labeled := label(hnc.LabelQuota, "true")
	ours := func(options ...option) *corev1.ResourceQuota {
		return resourceQuota(hnc.ResourceQuotaName, append([]option{labeled}, options...)...)
	}
	own := func(options ...option) *corev1.ResourceQuota { return resourceQuota("own", options...) }
	more := func(object metav1.Object) { object.(*corev1.ResourceQuota).Spec.Hard = pods("9") }
	unscoped := func(object metav1.Object) { object.(*corev1.ResourceQuota).Spec = corev1.ResourceQuotaSpec{} }
	used := func(object metav1.Object) { object.(*corev1.ResourceQuota).Status.Used = pods("1") }
	held := func(object metav1.Object) { object.SetFinalizers([]string{"example.com/hold"}) }
	heldTwice := func(object metav1.Object) { object.SetFinalizers([]string{"example.com/hold", "example.com/more"}) }
	owned := func(uid types.UID) option {
		return func(object metav1.Object) {
			object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: uid}})
		}
	}
	housekeeping := func(object metav1.Object) {
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "somebody"}})
		object.SetResourceVersion("8")
		object.SetGeneration(2)
	}
	const name = "the propagator creates the ResourceQuotas whose names begin with hrq.hnc.x-k8s.io"
	const noLabel = "only the propagator adds label hnc.x-k8s.io/hrq to ResourceQuotas: leave it out of ResourceQuota team-a/"
	const change = "only the propagator changes ResourceQuota team-a/hrq.hnc.x-k8s.io, because it holds the limits of hierarchical quotas: change those instead"
	const remove = "only the propagator deletes ResourceQuota team-a/hrq.hnc.x-k8s.io"
	const count = "only Kubernetes writes the status of ResourceQuota team-a/hrq.hnc.x-k8s.io: this needs the verb update on resourcequotas/status in all namespaces"
	const kubeAPIServer = "system:apiserver"
	masters := []string{"system:masters"}
	ending := inNamespace("ending")
	return []row{
		{name: "QUOTA resource quotas: the propagator creates one", request: request{user: hnc.PropagatorUser, object: ours()}},
		{name: "QUOTA resource quotas: the propagator changes one", request: request{user: hnc.PropagatorUser, object: ours(more, held), old: ours()}},
		{name: "QUOTA resource quotas: the propagator takes one over", request: request{user: hnc.PropagatorUser, object: ours(), old: resourceQuota(hnc.ResourceQuotaName)}},
		{name: "QUOTA resource quotas: the propagator deletes one", request: request{user: hnc.PropagatorUser, old: ours()}},

		{name: "resource quotas: own ones are created", request: request{object: own()}},
		{name: "resource quotas: own ones are changed", request: request{object: own(more, held, label("a", "b")), old: own()}},
		{name: "resource quotas: own ones are counted", request: request{subresource: "status", object: own(used), old: own()}},
		{name: "resource quotas: own ones are deleted", request: request{old: own()}},

		{name: "resource quotas: the name is taken", request: request{object: resourceQuota(hnc.ResourceQuotaName)}, denied: name},
		{name: "resource quotas: the names of scopes are taken", request: request{object: resourceQuota(scoped)}, denied: name},
		{name: "resource quotas: names that begin likewise are free", request: request{object: resourceQuota(hnc.ResourceQuotaName + "x")}},
		{name: "resource quotas: the label is not set at creation", request: request{object: own(labeled)}, denied: noLabel + "own"},
		{name: "resource quotas: an empty label is one", request: request{object: own(label(hnc.LabelQuota, ""))}, denied: noLabel + "own"},
		{name: "resource quotas: the label is not added", request: request{object: own(labeled), old: own()}, denied: noLabel + "own"},
		{name: "resource quotas: the label is not added by a status update", denied: noLabel + "own",
			request: request{subresource: "status", object: own(labeled), old: own()}},
		{name: "resource quotas: the label is not added to one that had the name before", denied: noLabel + "hrq.hnc.x-k8s.io",
			request: request{object: ours(), old: resourceQuota(hnc.ResourceQuotaName)}},
		{name: "resource quotas: the label of another's is removed", request: request{object: own(), old: own(labeled)}},
		{name: "resource quotas: another's with the label is changed", request: request{object: own(labeled, more, used, held), old: own(labeled)}},
		{name: "resource quotas: another's with the label is deleted", request: request{old: own(labeled)}},
		{name: "resource quotas: one that had the name before is deleted", request: request{old: resourceQuota(hnc.ResourceQuotaName)}},

		{name: "QUOTA resource quotas: limits stay", request: request{object: ours(more), old: ours()}, denied: change},
		{name: "QUOTA resource quotas: limits are not removed", request: request{object: ours(unscoped), old: ours()}, denied: change},
		{name: "QUOTA resource quotas: those of scopes stay", denied: "only the propagator changes ResourceQuota team-a/" + scoped,
			request: request{object: resourceQuota(scoped, labeled, more), old: resourceQuota(scoped, labeled)}},
		{name: "QUOTA resource quotas: the label stays", request: request{object: resourceQuota(hnc.ResourceQuotaName), old: ours()}, denied: change},
		{name: "QUOTA resource quotas: the label's value stays", request: request{object: ours(label(hnc.LabelQuota, "false")), old: ours()}, denied: change},
		{name: "QUOTA resource quotas: the label stays in a status update", denied: change,
			request: request{subresource: "status", object: resourceQuota(hnc.ResourceQuotaName), old: ours()}},
		{name: "resource quotas: other labels stay", request: request{object: ours(label("a", "b")), old: ours()}, denied: change},
		{name: "resource quotas: annotations stay", request: request{object: ours(), old: ours(annotation(hnc.AnnotationNone, "true"))}, denied: change},
		{name: "resource quotas: finalizers are not added", request: request{object: ours(heldTwice), old: ours(held)}, denied: change},
		{name: "resource quotas: finalizers are removed", request: request{object: ours(held), old: ours(heldTwice)}},
		{name: "resource quotas: owners are not added", request: request{object: ours(owned("1")), old: ours()}, denied: change},
		{name: "resource quotas: owners are not replaced", request: request{object: ours(owned("2")), old: ours(owned("1"))}, denied: change},
		{name: "resource quotas: owners are removed", request: request{object: ours(), old: ours(owned("1"))}},
		{name: "resource quotas: what the server writes is free", request: request{object: ours(housekeeping), old: ours()}},
		{name: "resource quotas: not by a system component either", request: request{user: quotaController, object: ours(more), old: ours()}, denied: change},

		{name: "R2 resource quotas: Kubernetes counts", request: request{user: quotaController, subresource: "status", object: ours(used), old: ours()}},
		{name: "resource quotas: quota admission counts",
			request: request{user: kubeAPIServer, groups: masters, subresource: "status", object: ours(used), old: ours()}},
		{name: "resource quotas: users with only its name do not count", denied: count,
			request: request{user: kubeAPIServer, subresource: "status", object: ours(used), old: ours()}},
		{name: "resource quotas: users with only its group do not count", denied: count,
			request: request{groups: masters, subresource: "status", object: ours(used), old: ours()}},
		{name: "resource quotas: quota admission does not change limits", denied: change,
			request: request{user: kubeAPIServer, groups: masters, object: ours(more), old: ours()}},
		{name: "resource quotas: tenants do not count", request: request{subresource: "status", object: ours(used), old: ours()}, denied: count},
		{name: "resource quotas: tenants do not reset the count", request: request{subresource: "status", object: ours(), old: ours(used)}, denied: count},
		{name: "resource quotas: an unchanged status is no change", request: request{subresource: "status", object: ours(used, housekeeping), old: ours(used)}},

		{name: "QUOTA resource quotas: they are not deleted", request: request{old: ours()}, denied: remove},
		{name: "QUOTA resource quotas: nor with a collection", request: request{old: ours(), collection: true}, denied: remove},
		{name: "QUOTA resource quotas: they go with their namespace", request: request{user: namespaceController, old: ours(ending)}},
		{name: "resource quotas: tenants do not delete them while their namespace goes", request: request{old: ours(ending)},
			denied: "only the propagator deletes ResourceQuota ending/hrq.hnc.x-k8s.io"},
		{name: "resource quotas: users allowed to delete their namespace do not delete them while it stays", denied: remove,
			request: request{user: namespaceController, old: ours()}},
		{name: "resource quotas: they stay as they are while their namespace goes", request: request{object: ours(ending, more), old: ours(ending)},
			denied: "only the propagator changes ResourceQuota ending/hrq.hnc.x-k8s.io"},
	}
}
