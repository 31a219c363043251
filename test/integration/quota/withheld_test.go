package quota

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// While kube-controller-manager computes nothing, nobody gets permissions in a new sub-namespace, nor in one that is
// created again. Others keep and get them.
func TestPermissionsAreWithheldWhileLimitsAreNotInForce(t *testing.T) {
	tree(t, "withheld-", "root", "old<root")
	setCreatorRole(t, "admin")
	t.Cleanup(func() { setCreatorRole(t, "") })
	editor := editorIn(t, "withheld-editor", "withheld-root")
	suite.Eventually(t, "the permissions of a new editor", func() error {
		_, err := editor.HNC.HncV1beta1().Subnamespaces("withheld-root").List(t.Context(), metav1.ListOptions{})
		return err
	})
	limit(t, "withheld-root", "q", "services=2")
	again := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "withheld-again"}}
	if _, err := editor.HNC.HncV1beta1().Subnamespaces("withheld-root").Create(t.Context(), again, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	bindings := func(namespace string) string {
		list, err := admin.RbacV1().RoleBindings(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		var names []string
		for _, b := range list.Items {
			names = append(names, b.Name)
		}
		return strings.Join(names, " ")
	}
	suite.EventuallyEqual(t, "RoleBindings", "hns-creator-withheld-again withheld-editor", func() string { return bindings("withheld-again") })

	// A sub-namespace is deleted, and created again for its Subnamespace.
	compute := stopComputing(t)
	if err := intruder(t).CoreV1().Namespaces().Delete(t.Context(), "withheld-again", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	created := make(chan error, 1)
	go func() {
		sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "withheld-new"}}
		_, err := editor.HNC.HncV1beta1().Subnamespaces("withheld-root").Create(t.Context(), sub, metav1.CreateOptions{})
		created <- err
	}()
	for _, name := range []string{"withheld-new", "withheld-again"} {
		suite.EventuallyEqual(t, "the condition of "+name, "False LimitsPending", func() string {
			s, err := admin.HNC.HncV1beta1().Subnamespaces("withheld-root").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if c := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady); c != nil {
				return string(c.Status) + " " + c.Reason
			}
			return "none"
		})
	}
	// A RoleBinding that is written now reaches the namespaces that were there before. The limit is not in force there
	// either, after it has changed.
	q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "later"}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(limits("pods=1"))}}
	later := make(chan error, 1)
	go func() {
		_, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas("withheld-root").Create(t.Context(), q, metav1.CreateOptions{})
		later <- err
	}()
	suite.Eventually(t, "another limit", func() error {
		rq, err := admin.CoreV1().ResourceQuotas("withheld-old").Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
		if err == nil && rq.Spec.Hard.Pods().IsZero() {
			err = errors.New("it has not arrived")
		}
		return err
	})
	editorIn(t, "withheld-late", "withheld-root")
	suite.EventuallyEqual(t, "RoleBindings", "withheld-editor withheld-late", func() string { return bindings("withheld-old") })
	for _, name := range []string{"withheld-new", "withheld-again"} {
		if got := bindings(name); got != "" {
			t.Errorf("RoleBindings in %s: %s", name, got)
		}
	}
	compute()
	for _, err := range []error{<-created, <-later} {
		if err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"withheld-new", "withheld-again"} {
		suite.EventuallyEqual(t, "RoleBindings", "hns-creator-"+name+" withheld-editor withheld-late", func() string { return bindings(name) })
		suite.Eventually(t, "the condition of "+name, func() error {
			s, err := admin.HNC.HncV1beta1().Subnamespaces("withheld-root").Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) {
				err = fmt.Errorf("conditions %v", s.Status.Conditions)
			}
			return err
		})
		creators, err := admin.RbacV1().RoleBindings(name).Get(t.Context(), "hns-creator-"+name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		editors, err := admin.RbacV1().RoleBindings(name).Get(t.Context(), "withheld-editor", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if order, err := resourceversion.CompareResourceVersion(editors.ResourceVersion, creators.ResourceVersion); err != nil || order >= 0 {
			t.Errorf("in %s, the creator's RoleBinding is not the last: %v", name, err)
		}
		// The note is removed along with the report that it is ready.
		suite.Eventually(t, "the note in "+name, func() error {
			ns, err := admin.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && ns.Annotations[hnc.AnnotationLimitsPending] != "" {
				err = fmt.Errorf("annotations %v", ns.Annotations)
			}
			return err
		})
	}
}

// setCreatorRole has the creators of sub-namespaces get a role there; "" is none.
func setCreatorRole(t *testing.T, role string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // It is also called when the test ends.
	if err := retry.RetryOnConflict(suite.Backoff, func() error {
		c, err := admin.HNC.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c.Spec.CreatorRole = role
		_, err = admin.HNC.HncV1beta1().HNCConfigurations().Update(ctx, c, metav1.UpdateOptions{})
		return err
	}); err != nil {
		t.Errorf("setting the creators' role: %v", err)
	}
}

// stopComputing keeps kube-controller-manager from writing what it has computed about ResourceQuotas, until the
// returned function is called.
func stopComputing(t *testing.T) (resume func()) {
	t.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "computes-nothing"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"resourcequotas/status"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "nothing is computed"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	client := admin.AdmissionregistrationV1()
	if _, err := client.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	remove := sync.OnceFunc(func() {
		ctx := context.WithoutCancel(t.Context()) // It is also called when the test ends.
		if err := client.ValidatingAdmissionPolicyBindings().Delete(ctx, policy.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(remove)
	suite.Eventually(t, "the policy", func() error {
		rq, err := admin.CoreV1().ResourceQuotas("withheld-old").Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if _, err = admin.CoreV1().ResourceQuotas("withheld-old").UpdateStatus(t.Context(), rq, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}); err == nil {
			return errors.New("updated")
		}
		if !strings.Contains(err.Error(), "nothing is computed") {
			return err
		}
		return nil
	})
	return remove
}
