package reposync

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// TestQuotasLimitARepository has a hierarchical quota in the repository itself, which its objects exceed. All others
// are applied, and the rest as soon as the limit is raised.
func TestQuotasLimitARepository(t *testing.T) {
	t.Parallel()
	quota := func(secrets int) string {
		return fmt.Sprintf("apiVersion: hnc.x-k8s.io/v1beta1\nkind: HierarchicalResourceQuota\nmetadata: {name: budget}\nspec: {hard: {secrets: \"%d\"}}\n", secrets)
	}
	const quotaFile, secretsFile = "namespaces/q-shop/budget.yaml", "namespaces/q-shop/secrets.yaml"
	r := newRepository(t, with(namespace("q-shop"), quotaFile, quota(1)))
	start(t, "limited-by-quota", r.spec())
	synced(t, "limited-by-quota", r.head(t))
	suite.Eventually(t, "the quota is in force", func() error {
		q, err := admin.CoreV1().ResourceQuotas("q-shop").Get(t.Context(), "hrq.hnc.x-k8s.io", metav1.GetOptions{})
		if err == nil && len(q.Status.Hard) == 0 {
			err = fmt.Errorf("not yet: %+v", q.Status)
		}
		return err
	})
	secrets := "apiVersion: v1\nkind: Secret\nmetadata: {name: one}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: two}\n---\n" + configMap("settings", "1")
	r.commit(t, map[string]string{secretsFile: secrets})
	failing(t, "limited-by-quota", hnc.ReasonApplyFailed, "KNV2009")
	s, err := admin.HNC.HncV1alpha3().RepositorySyncs().Get(t.Context(), "limited-by-quota", metav1.GetOptions{})
	if err != nil || s.Status.Failed != 1 || len(s.Status.Failures) != 1 {
		t.Fatalf("want one failure: %+v, %v", s.Status, err)
	}
	if f := s.Status.Failures[0]; f.Kind != "Secret" || f.Namespace != "q-shop" || f.Path != secretsFile || !strings.Contains(f.Message, "exceeded quota") {
		t.Errorf("got %+v", f)
	}
	eventually(t, "q-shop", "settings=1")
	synced(t, "limited-by-quota", r.commit(t, map[string]string{quotaFile: quota(2)}))
}

// TestMovesBelowALeaf moves a namespace between sub-namespaces of leaves, while the policies of both are changed.
func TestMovesBelowALeaf(t *testing.T) {
	t.Parallel()
	files := namespace("mv-eng/mv-a", "mv-eng/mv-b", "mv-moved")
	for _, leaf := range []string{"mv-a", "mv-b"} {
		files["namespaces/mv-eng/"+leaf+"/readers.yaml"] = strings.ReplaceAll(readers, "readers", "of-"+leaf)
	}
	r := newRepository(t, files)
	start(t, "moves", r.spec())
	synced(t, "moves", r.head(t))
	for parent, child := range map[string]string{"mv-a": "mv-a-sub", "mv-b": "mv-b-sub"} {
		if _, err := admin.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: child}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	move := func(parent string) {
		t.Helper()
		force := true
		suite.Must(t, "move below "+parent, func() error {
			_, err := admin.HNC.HncV1beta1().Hierarchies("mv-moved").Patch(t.Context(), hnc.Singleton, types.ApplyPatchType,
				fmt.Appendf(nil, `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":%q}}`, parent),
				metav1.PatchOptions{FieldManager: "mover", Force: &force})
			return err
		})
	}
	commit := ""
	for i, parent := range []string{"mv-a-sub", "mv-b-sub", "mv-a", "mv-b-sub"} {
		move(parent)
		commit = r.commit(t, map[string]string{
			"namespaces/mv-eng/common.yaml":        strings.ReplaceAll(readers, "readers", fmt.Sprintf("common-%d", i)),
			"namespaces/mv-moved/own.yaml":         strings.ReplaceAll(readers, "readers", fmt.Sprintf("own-%d", i)),
			"namespaces/mv-eng/mv-b/settings.yaml": configMap("settings", fmt.Sprint(i)),
		})
	}
	synced(t, "moves", commit)
	for namespace, want := range map[string]string{
		"mv-b-sub": "common-3<mv-b of-mv-b<mv-b", "mv-moved": "common-3<mv-b of-mv-b<mv-b own-3<", "mv-a-sub": "common-3<mv-a of-mv-a<mv-a",
	} {
		suite.EventuallyEqual(t, "RoleBindings of "+namespace, want, func() string { return bindings(t, namespace) })
	}
	eventually(t, "mv-b", "settings=3")
}
