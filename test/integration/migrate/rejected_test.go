package migrate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// wouldOverwrite is what a migration says of a NetworkPolicy of the root, and of another one of that name two levels
// below it.
const (
	below          = "team-005"
	wouldOverwrite = "hncconfigurations config: the entry for networkpolicies: copies would overwrite 1 objects that HNC has left alone, such as local in " + below + " by that of " + root +
		"; rename or delete these, or set another mode for the kind, with HNC's plugin; with --skip-rejected they stay, by onConflict: Keep"
)

// conflict creates these NetworkPolicies, and returns the lower one.
func conflict(t *testing.T) *networkingv1.NetworkPolicy {
	t.Helper()
	var last *networkingv1.NetworkPolicy
	for _, namespace := range []string{root, below} {
		var err error
		if last, err = admin.NetworkingV1().NetworkPolicies(namespace).Create(t.Context(), &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "local"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

// keeps checks that the lower object is as it was after a migration that has left out what was rejected, and that its
// namespace has its parent.
func keeps(t *testing.T, want *networkingv1.NetworkPolicy) {
	t.Helper()
	ctx := t.Context()
	copied := func() error {
		_, err := admin.NetworkingV1().NetworkPolicies(descendant).Get(ctx, want.Name, metav1.GetOptions{})
		return err
	}
	suite.Eventually(t, "the upper one is copied to where there is none", copied)
	got, err := admin.NetworkingV1().NetworkPolicies(want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil || got.UID != want.UID || got.Labels[hnc.LabelInheritedFrom] != "" {
		t.Errorf("it was overwritten: %v, %v", got, err)
	}
	h, err := admin.HNC.HncV1beta1().Hierarchies(want.Namespace).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	if err != nil || h.Spec.Parent != descendant {
		t.Errorf("it has lost its parent: %v, %v", h, err)
	}
	c, err := admin.HNC.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Spec.Resources {
		if keep := r.OnConflict == v1beta1.Keep; keep != (r.Resource == "networkpolicies") {
			t.Errorf("the entry for %s has onConflict %q", r.Resource, r.OnConflict)
		}
	}
}

// knowsRejections checks that what an import would reject is known before anything is changed, and that --skip-rejected
// leaves out exactly that.
func knowsRejections(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	kinds := func(patch string) {
		t.Helper()
		if _, err := admin.Dynamic.Resource(configurations).Patch(ctx, "config", types.JSONPatchType, []byte(`[`+patch+`]`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		before, after func()
		// want is listed, and left out by --skip-rejected unless needed is set.
		want   string
		needed bool
	}{
		"a kind that is gone": {
			func() {
				kinds(`{"op":"add","path":"/spec/resources/0","value":{"group":"example.com","resource":"gadgets","mode":"Propagate"}}`)
			},
			func() { kinds(`{"op":"remove","path":"/spec/resources/0"}`) },
			`hncconfigurations config: the entry for gadgets: Invalid value: "gadgets.example.com": the cluster has no such resource; install it first, or correct the name`, false,
		},
		"an object that HNC has not overwritten": {
			func() { conflict(t) },
			func() {
				for _, namespace := range []string{root, below} {
					if err := admin.NetworkingV1().NetworkPolicies(namespace).Delete(ctx, "local", metav1.DeleteOptions{}); err != nil {
						t.Fatal(err)
					}
				}
			},
			wouldOverwrite, false,
		},
		"a policy of others": {
			func() { forbidHierarchies(t, changed) }, func() { allowHierarchies(t) },
			"hierarchyconfigurations " + changed + `/hierarchy: Hierarchy.hnc.x-k8s.io "hierarchy" is forbidden: ValidatingAdmissionPolicy 'others.example.com'`, true,
		},
	} {
		test.before()
		dir := t.TempDir()
		out, err := plugin(t, "", "migrate", "--yes", "--export="+filepath.Join(dir, "new.yaml"))
		intro := "hns-apiserver rejects 1 of HNC's objects; change or delete them, or leave them out by --skip-rejected:\n  "
		if test.needed {
			intro = "hns-apiserver rejects 1 of HNC's objects that --skip-rejected does not leave out, because namespaces would lose what they have; change them:\n  "
		}
		if err == nil || !strings.Contains(err.Error(), intro+test.want) {
			t.Errorf("%s: got %v, want %q\n%s", name, err, intro+test.want, out)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%s: files are left: %v, %v", name, files, err)
		}
		out, err = plugin(t, "", "migrate", "--dry-run", "--skip-rejected", "--export=hnc-export.yaml")
		if test.needed {
			if err == nil || !strings.Contains(err.Error(), intro+test.want) {
				t.Errorf("%s, with --skip-rejected: got %v, want %q\n%s", name, err, intro+test.want, out)
			}
		} else {
			if err != nil || !strings.Contains(out, "Left out, because hns-apiserver rejects them:\n  "+test.want+"\n") {
				t.Errorf("%s, with --skip-rejected: %v\n%s", name, err, out)
			}
			golden(t, "dry-run", strings.Replace(strings.Replace(out, " 10 configured kinds", " 9 configured kinds", 1), "Left out, because hns-apiserver rejects them:\n  "+test.want+"\n", "", 1))
		}
		test.after()
	}
}

// forbidHierarchies installs an admission policy that rejects a hierarchy in a namespace, as users have them.
func forbidHierarchies(t *testing.T, namespace string) {
	t.Helper()
	ctx := t.Context()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "others.example.com"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{hnc.GroupName}, APIVersions: []string{"v1alpha2"}, Resources: []string{"hierarchyconfigurations"}},
			}}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "request.namespace != '" + namespace + "'"}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}},
	}
	_, err := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{})
	_, bound := admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{})
	if err := errors.Join(err, bound); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the policy is in force", func() error {
		if err := createHierarchy(t, namespace); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			return errors.Join(errors.New("it is not"), err)
		}
		return nil
	})
}

// allowHierarchies removes the policy, and returns when it has no effect any more.
func allowHierarchies(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if err := errors.Join(admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, "others.example.com", metav1.DeleteOptions{}),
		admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, "others.example.com", metav1.DeleteOptions{})); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the policy is not in force", func() error { return createHierarchy(t, changed) })
}

// heldAfterTheCheck checks that a finalizer which users have set since the first check ends a migration that continues.
func heldAfterTheCheck(t *testing.T, file string) {
	t.Helper()
	finalizers := func(list string) {
		t.Helper()
		if _, err := admin.Dynamic.Resource(anchors).Namespace(root).Patch(t.Context(), "team-002", types.MergePatchType, []byte(`{"metadata":{"finalizers":`+list+`}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	interrupt(t, "stop", "migrate", "--yes", "--export", file)
	finalizers(`["hnc.x-k8s.io","example.com/held"]`)
	if out, err := plugin(t, "", "migrate", "--yes", "--export", file); err == nil || !strings.Contains(err.Error(), "step export: SubnamespaceAnchor "+root+"/team-002 has the finalizer example.com/held") {
		t.Errorf("a finalizer that was set after the first check: %v\n%s", err, out)
	}
	finalizers(`["hnc.x-k8s.io"]`)
}

// createHierarchy is a dry run.
func createHierarchy(t *testing.T, namespace string) error {
	t.Helper()
	_, err := admin.HNC.HncV1beta1().Hierarchies(namespace).Create(t.Context(), &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}},
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}
