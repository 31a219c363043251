package reservations

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A namespace with use moves below another quota only if its use fits there, or if a user allowed to update the quota
// wants it.
func TestMovesThatExceedAQuotaAreRejected(t *testing.T) {
	from, _ := subtree(t, "from-", 0, 9)
	to, below := subtree(t, "to-", 1, 3)
	for i := range 2 {
		if err := createSecret(t, from, fmt.Sprintf("s-%d", i)); err != nil {
			t.Fatal(err)
		}
		if err := createSecret(t, below[0], fmt.Sprintf("s-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	mover := administrator(t, "mover", from, to)
	want := fmt.Sprintf(`exceeded hierarchical quota in namespace %q: "secrets", requested: secrets=2, used: secrets=2, limited: secrets=3`, to)
	for _, annotations := range []map[string]string{nil, {hnc.AnnotationExceedQuotas: "true"}} {
		var err error
		suite.Eventually(t, "a decision about the quota", func() error {
			if err = move(t, mover, from, to, annotations); err == nil || strings.Contains(err.Error(), "exceeded") {
				return nil
			}
			return err
		})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("annotations %v: got %v, want %s", annotations, err, want)
		}
	}
	if err := admin.CoreV1().Secrets(below[0]).Delete(t.Context(), "s-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "a move that fits", func() error { return move(t, mover, from, to, nil) })
	if err := createSecret(t, below[0], "more"); !exceeded(err) {
		t.Errorf("what has moved must count: %v", err)
	}
}

func TestUserAllowedToUpdateTheQuotaMayExceedIt(t *testing.T) {
	from, _ := subtree(t, "force-from-", 0, 9)
	to, _ := subtree(t, "force-to-", 0, 1)
	for i := range 2 {
		if err := createSecret(t, from, fmt.Sprintf("s-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := move(t, admin, from, to, nil); !exceeded(err) {
		t.Errorf("without the annotation: %v", err)
	}
	if err := move(t, admin, from, to, map[string]string{hnc.AnnotationExceedQuotas: "true"}); err != nil {
		t.Error(err)
	}
}

// A tenant could otherwise have an administrator's later move exceed a quota that the administrator has not meant to
// exceed.
func TestOnlyWhoMovesConsentsToExceedAQuota(t *testing.T) {
	from, _ := subtree(t, "consent-from-", 0, 9)
	to, _ := subtree(t, "consent-to-", 0, 1)
	for i := range 2 {
		if err := createSecret(t, from, fmt.Sprintf("s-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	tenant := administrator(t, "consenting", from)
	suite.Eventually(t, "the tenant's annotation", func() error {
		return move(t, tenant, from, "", map[string]string{hnc.AnnotationExceedQuotas: "true"})
	})
	h, err := admin.HNC.HncV1beta1().Hierarchies(from).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil || len(h.Annotations) > 0 {
		t.Errorf("stored: %v, %v", h.Annotations, err)
	}
	patch := func(annotations string) error {
		_, err := admin.HNC.HncV1beta1().Hierarchies(from).Patch(t.Context(), hnc.Singleton, types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{%s}},"spec":{"parent":%q}}`, annotations, to), metav1.PatchOptions{})
		return err
	}
	if err := patch(""); !exceeded(err) {
		t.Errorf("a move that does not say so: %v", err)
	}
	if err := patch(fmt.Sprintf("%q:%q", hnc.AnnotationExceedQuotas, "true")); err != nil {
		t.Errorf("a move that says so: %v", err)
	}
}

// Server-side apply, as GitOps tools use it: the consent counts in the request that moves, and is neither stored nor
// owned, so it does not conflict later.
func TestAppliedConsentCountsInItsRequestOnly(t *testing.T) {
	from, _ := subtree(t, "applied-from-", 0, 9)
	to, _ := subtree(t, "applied-to-", 0, 1)
	for i := range 2 {
		if err := createSecret(t, from, fmt.Sprintf("s-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	apply := func(as suite.User, parent string, annotations map[string]any) (*unstructured.Unstructured, error) {
		applied := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1beta1.SchemeGroupVersion.String(), "kind": "Hierarchy",
			"metadata": map[string]any{"name": hnc.Singleton, "annotations": annotations}, "spec": map[string]any{"parent": parent},
		}}
		return as.Dynamic.Resource(v1beta1.SchemeGroupVersion.WithResource("hierarchies")).Namespace(from).
			Apply(t.Context(), hnc.Singleton, applied, metav1.ApplyOptions{FieldManager: "gitops", Force: true})
	}
	consent := map[string]any{hnc.AnnotationExceedQuotas: "true"}
	tenant := administrator(t, "applying", from, to)
	suite.Eventually(t, "the quota rejects the move of a user without the permission to update it", func() error {
		if _, err := apply(tenant, to, consent); !exceeded(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	if _, err := apply(admin, to, nil); !exceeded(err) {
		t.Errorf("a move that does not say so: %v", err)
	}
	h, err := apply(admin, to, consent)
	if err != nil {
		t.Fatalf("a move that says so: %v", err)
	}
	if fields := fmt.Sprint(h.GetManagedFields()); len(h.GetAnnotations()) > 0 || strings.Contains(fields, hnc.AnnotationExceedQuotas) {
		t.Errorf("stored: %v, owned: %s", h.GetAnnotations(), fields)
	}
	// Applying the manifest again changes nothing, and needs no consent.
	if _, err := apply(admin, to, nil); err != nil {
		t.Error(err)
	}
}

// A plan lists all quotas that a move would exceed, but names only those that the requester may get.
func TestPlanListsTheQuotasThatAMoveWouldExceed(t *testing.T) {
	from, _ := subtree(t, "plan-from-", 0, 9)
	to, below := subtree(t, "plan-to-", 1, 1)
	limit(t, below[0], "other", 0)
	for i := range 2 {
		if err := createSecret(t, from, fmt.Sprintf("s-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	planner := administrator(t, "planner", from, to, below[0])
	for user, want := range map[suite.User]string{
		admin:   to + "/secrets secrets 0+2>1, " + below[0] + "/other secrets 0+2>0; 0 omitted",
		planner: "; 2 omitted",
	} {
		suite.Eventually(t, "the plan of "+user.Name, func() error {
			plan, err := user.HNC.HncV1beta1().Hierarchies(from).Plan(t.Context(), hnc.Singleton,
				&v1alpha3.HierarchyPlan{Spec: v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: below[0]}}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			var rows []string
			for _, e := range plan.Status.ExceededQuotas {
				rows = append(rows, fmt.Sprintf("%s/%s %s %s+%s>%s", e.Namespace, e.Name, e.Resource, e.Used, e.Moved, e.Limit))
			}
			if got := fmt.Sprintf("%s; %d omitted", strings.Join(rows, ", "), plan.Status.OmittedExceededQuotas); got != want || len(plan.Status.Refusals) != 1 {
				return fmt.Errorf("got %s with refusals %v, want %s", got, plan.Status.Refusals, want)
			}
			return nil
		})
	}
}

// move creates the Hierarchy of a namespace with a parent.
func move(t *testing.T, as suite.User, namespace, parent string, annotations map[string]string) error {
	t.Helper()
	h, err := as.HNC.HncV1beta1().Hierarchies(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = as.HNC.HncV1beta1().Hierarchies(namespace).Create(t.Context(), &v1beta1.Hierarchy{
			ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Annotations: annotations}, Spec: v1beta1.HierarchySpec{Parent: parent},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	h.Annotations, h.Spec.Parent = annotations, parent
	_, err = as.HNC.HncV1beta1().Hierarchies(namespace).Update(t.Context(), h, metav1.UpdateOptions{})
	return err
}

// administrator returns a user who may update hierarchies in namespaces, but no quotas.
func administrator(t *testing.T, name string, namespaces ...string) suite.User {
	t.Helper()
	config, err := cp.User(name)
	if err != nil {
		t.Fatal(err)
	}
	user, err := suite.NewUser(name, config)
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range namespaces {
		// Roles are propagated; those of equal names would conflict.
		roleName := name + "-of-" + namespace
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: roleName}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{hnc.GroupName}, Resources: []string{"hierarchies", "hierarchies/plan"}, Verbs: []string{"create", "get", "update", "patch"},
		}}}
		if _, err := admin.RbacV1().Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: roleName}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: roleName},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}}
		if _, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return user
}
