package admissionpolicy

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// TestPoliciesCompareLongLists has lists that take minutes if each member is compared with each other. CEL ends with
// the context, so that a policy that is too slow denies the request for another reason.
func TestPoliciesCompareLongLists(t *testing.T) {
	chain := newAdmissionChain(t, installed(t, manifestFiles(t)...))
	const many = 40_000
	finalizers := func(n int, prefix string) option {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("%s.example.com/%d", prefix, i)
		}
		return func(object metav1.Object) { object.SetFinalizers(names) }
	}
	owners := func(n int, prefix string) option {
		references := make([]metav1.OwnerReference, n)
		for i := range references {
			references[i] = metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: types.UID(fmt.Sprint(prefix, i))}
		}
		return func(object metav1.Object) { object.SetOwnerReferences(references) }
	}
	managers := func(n int) option {
		entries := make([]metav1.ManagedFieldsEntry, n)
		for i := range entries {
			entries[i] = metav1.ManagedFieldsEntry{Manager: fmt.Sprint("m", i), Operation: metav1.ManagedFieldsOperationApply}
		}
		return func(object metav1.Object) { object.SetManagedFields(entries) }
	}
	held, more, others := finalizers(many, "a"), finalizers(many+1, "a"), finalizers(many, "b")
	owned, ownedByMore := owners(many, "a"), owners(many+1, "a")
	inSync, acme, ending := label(hnc.LabelRepositorySync, "policy"), copyOf("acme"), inNamespace("ending")
	quota := label(hnc.LabelQuota, "true")
	const belongs, inherited, limits = "and a finalizer would keep what it grants", "a finalizer would keep what it grants when it is deleted there", "only the propagator changes"
	for _, r := range []row{
		{name: "repositories: unchanged", request: request{object: role(inSync, held), old: role(inSync, held)}},
		{name: "repositories: unchanged, by the account", request: request{user: synchronizer, manager: "hns-sync-policy", object: role(inSync, held), old: role(inSync, held)}},
		{name: "repositories: more", request: request{object: role(inSync, more), old: role(inSync, held)}, denied: belongs},
		{name: "repositories: more, by the account", request: request{user: synchronizer, object: role(inSync, more), old: role(inSync, held)}},
		{name: "repositories: others", request: request{object: role(inSync, others), old: role(inSync, held)}},
		{name: "repositories: fewer", request: request{object: role(inSync, held), old: role(inSync, more)}},
		{name: "repositories: others, of few", request: request{object: role(inSync, finalizers(100, "b")), old: role(inSync, finalizers(100, "a"))}, denied: belongs},
		{name: "repositories: managed fields, unchanged", request: request{object: role(inSync, managers(many)), old: role(inSync, managers(many))},
			denied: "Role team-a/reader belongs to the RepositorySync policy, and has more than 100 field managers"},
		{name: "repositories: managed fields, more", request: request{object: role(inSync, managers(101)), old: role(inSync)}, denied: "more than 100 field managers"},
		{name: "repositories: managed fields, fewer", request: request{object: role(inSync), old: role(inSync, managers(101))}, denied: "more than 100 field managers"},
		{name: "repositories: managed fields, few", request: request{object: role(inSync, managers(100)), old: role(inSync, managers(100))}},
		{name: "repositories: managed fields, by the account", request: request{user: synchronizer, object: role(inSync, managers(many)), old: role(inSync, managers(many))}},
		{name: "repositories: managed fields of copies", request: request{object: role(acme, inSync, managers(many)), old: role(acme, inSync, managers(many))}},

		{name: "copies: unchanged", request: request{object: role(acme, held), old: role(acme, held)}},
		{name: "copies: more", request: request{object: role(acme, more), old: role(acme, held)}, denied: inherited},
		{name: "copies: others", request: request{object: role(acme, others), old: role(acme, held)}},
		{name: "copies: fewer", request: request{object: role(acme, held), old: role(acme, more)}},
		{name: "copies: others, of few", request: request{object: role(acme, finalizers(100, "b")), old: role(acme, finalizers(100, "a"))}, denied: inherited},
		{name: "copies: owners, unchanged", request: request{object: role(ending, acme, owned), old: role(ending, acme, owned)}},
		{name: "copies: owners, more", request: request{object: role(ending, acme, ownedByMore), old: role(ending, acme, owned)}, denied: "gets no owners"},
		{name: "copies: owners, fewer", request: request{object: role(ending, acme, owned), old: role(ending, acme, ownedByMore)}},

		{name: "resource quotas: unchanged", request: request{object: resourceQuota(hnc.ResourceQuotaName, quota, held, owned), old: resourceQuota(hnc.ResourceQuotaName, quota, held, owned)}},
		{name: "resource quotas: more", request: request{object: resourceQuota(hnc.ResourceQuotaName, quota, more), old: resourceQuota(hnc.ResourceQuotaName, quota, held)}, denied: limits},
		{name: "resource quotas: others", request: request{object: resourceQuota(hnc.ResourceQuotaName, quota, others), old: resourceQuota(hnc.ResourceQuotaName, quota, held)}},
		{name: "resource quotas: others, of few", denied: limits,
			request: request{object: resourceQuota(hnc.ResourceQuotaName, quota, finalizers(100, "b")), old: resourceQuota(hnc.ResourceQuotaName, quota, finalizers(100, "a"))}},
		{name: "resource quotas: owners, fewer", request: request{object: resourceQuota(hnc.ResourceQuotaName, quota, owned), old: resourceQuota(hnc.ResourceQuotaName, quota, ownedByMore)}},
	} {
		t.Run(r.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if problem := r.check(chain.admit(ctx, r.request)); problem != "" {
				t.Error(problem)
			}
		})
	}
}
