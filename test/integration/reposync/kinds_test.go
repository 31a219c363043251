package reposync

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Objects of HNC's kinds are also objects of the kinds of v1beta1. A repository that uses both names, or changes from
// one to the other, deletes nothing.
func TestBothNamesOfAKindAreOneObject(t *testing.T) {
	const sub = "namespaces/b-eng/b-shop/sub.yaml"
	r := newRepository(t, with(with(namespace("b-eng/b-shop", "b-eng/b-full"),
		sub, "apiVersion: hnc.x-k8s.io/v1alpha2\nkind: SubnamespaceAnchor\nmetadata: {name: b-sub}\n"),
		"namespaces/b-eng/b-full/parent.yaml", "apiVersion: hnc.x-k8s.io/v1alpha2\nkind: HierarchyConfiguration\nmetadata: {name: hierarchy}\nspec: {parent: b-shop}\n"))
	start(t, "both", r.spec())
	synced(t, "both", r.head(t))
	var before string
	suite.Eventually(t, "the sub-namespace", func() error {
		ns, err := admin.CoreV1().Namespaces().Get(t.Context(), "b-sub", metav1.GetOptions{})
		if err == nil {
			before = string(ns.UID)
		}
		return err
	})
	commit := r.commit(t, map[string]string{sub: "apiVersion: hnc.x-k8s.io/v1beta1\nkind: Subnamespace\nmetadata: {name: b-sub}\n"})
	synced(t, "both", commit)
	// What the commit before has made the next one prune would be gone after it.
	commit = r.commit(t, map[string]string{"namespaces/b-eng/policy.yaml": configMap("policy", "1")})
	synced(t, "both", commit)
	eventually(t, "b-shop", "policy=1")
	ns, err := admin.CoreV1().Namespaces().Get(t.Context(), "b-sub", metav1.GetOptions{})
	if err != nil || string(ns.UID) != before || ns.DeletionTimestamp != nil {
		t.Errorf("the sub-namespace was deleted: %v, %v", ns, err)
	}
	h, err := admin.HNC.HncV1beta1().Hierarchies("b-full").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil || h.Spec.Parent != "b-shop" || h.DeletionTimestamp != nil {
		t.Errorf("the hierarchy was deleted: %+v, %v", h, err)
	}
}
