package reposync

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// readers is a RoleBinding that lets the author read namespaces.
const readers = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: readers}\n" +
	"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects: [{kind: ServiceAccount, name: author, namespace: " + accounts + "}]\n"

// bindings returns the RoleBindings of a namespace, with their sources.
func bindings(t *testing.T, namespace string) string {
	t.Helper()
	list, err := admin.RbacV1().RoleBindings(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var all []string
	for i := range list.Items {
		all = append(all, list.Items[i].Name+"<"+list.Items[i].Labels[hnc.LabelInheritedFrom])
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestLeafJoinsALiveTree gives a namespace of a repository a parent, and a sub-namespace. Neither hns-sync nor the
// propagator undoes what the other writes.
func TestLeafJoinsALiveTree(t *testing.T) {
	t.Parallel()
	r := newRepository(t, with(namespace("j-shop", "j-root"), "namespaces/j-root/leads.yaml", strings.ReplaceAll(readers, "readers", "leads")))
	start(t, "joins", r.spec())
	synced(t, "joins", r.head(t))
	hierarchies := admin.HNC.HncV1beta1().Hierarchies("j-shop")
	suite.Must(t, "set the parent", func() error {
		_, err := hierarchies.Create(t.Context(), &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: "j-root"}}, metav1.CreateOptions{})
		return err
	})
	if _, err := admin.HNC.HncV1beta1().Subnamespaces("j-shop").Create(t.Context(),
		&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "j-child"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect := func(namespace, want string) {
		t.Helper()
		suite.EventuallyEqual(t, "RoleBindings of "+namespace, want, func() string { return bindings(t, namespace) })
	}
	expect("j-shop", "leads<j-root")
	expect("j-child", "leads<j-root")
	// The repository is applied to both, and the copies and the tree stay.
	synced(t, "joins", r.commit(t, map[string]string{"namespaces/j-shop/readers.yaml": readers}))
	expect("j-shop", "leads<j-root readers<")
	expect("j-child", "leads<j-root readers<j-shop")
	suite.Eventually(t, "the author sees the namespaces", func() error {
		list, err := author.HNC.HncV1alpha3().MyNamespaces().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		var names []string
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Name, "j-") {
				names = append(names, list.Items[i].Name+"<"+list.Items[i].Status.Parent)
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != "j-child<j-shop j-root< j-shop<j-root" {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
	// Back to a tree of its own.
	suite.Must(t, "remove the parent", func() error {
		_, err := hierarchies.Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(`{"spec":{"parent":null}}`), metav1.PatchOptions{})
		return err
	})
	expect("j-shop", "readers<")
	expect("j-child", "readers<j-shop")
	s, err := admin.HNC.HncV1alpha3().RepositorySyncs().Get(t.Context(), "joins", metav1.GetOptions{})
	if err != nil || !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) {
		t.Errorf("got %+v, %v", s.Status, err)
	}
}

// TestMetadataOfOtherToolsStays has Argo CD and Flux track an object of the repository as well.
func TestMetadataOfOtherToolsStays(t *testing.T) {
	t.Parallel()
	r := newRepository(t, with(namespace("y-shop"), "namespaces/policy.yaml", configMap("policy", "1")))
	start(t, "tracked", r.spec())
	synced(t, "tracked", r.head(t))
	maps := tenant.CoreV1().ConfigMaps("y-shop")
	suite.Must(t, "track", func() error {
		_, err := maps.Patch(t.Context(), "policy", types.MergePatchType, []byte(`{"metadata":{"labels":{"argocd.argoproj.io/instance":"app","kustomize.toolkit.fluxcd.io/name":"app"},
"annotations":{"argocd.argoproj.io/tracking-id":"app:/ConfigMap:y-shop/policy"}}}`), metav1.PatchOptions{})
		return err
	})
	synced(t, "tracked", r.commit(t, map[string]string{"namespaces/policy.yaml": configMap("policy", "2")}))
	eventually(t, "y-shop", "policy=2")
	m, err := maps.Get(t.Context(), "policy", metav1.GetOptions{})
	if err != nil || m.Labels["argocd.argoproj.io/instance"] != "app" || m.Labels["kustomize.toolkit.fluxcd.io/name"] != "app" || m.Annotations["argocd.argoproj.io/tracking-id"] == "" {
		t.Errorf("got %v %v, %v", m.Labels, m.Annotations, err)
	}
}
