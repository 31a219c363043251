package quota

import (
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// intruder returns clients with the propagator's name, whom no policy restricts.
func intruder(t *testing.T) suite.User {
	t.Helper()
	config := rest.CopyConfig(cp.RESTConfig())
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:hns-system:hns-propagator"}
	u, err := suite.NewUser("intruder", config)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestTamperedResourceQuotasAreReset(t *testing.T) {
	tree(t, "tamper-", "a")
	limit(t, "tamper-a", "q", "secrets=3")
	wantHard(t, "tamper-a", "secrets=3")
	client := intruder(t).CoreV1().ResourceQuotas("tamper-a")
	for what, patch := range map[string]string{
		"limits":     `{"spec":{"hard":{"secrets":"100","pods":"1"}}}`,
		"label":      `{"metadata":{"labels":null}}`,
		"annotation": `{"metadata":{"annotations":null}}`,
	} {
		if _, err := client.Patch(t.Context(), hnc.ResourceQuotaName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		suite.EventuallyEqual(t, what, "secrets=3 map[hnc.x-k8s.io/hrq:true] map[propagate.hnc.x-k8s.io/none:true]", func() string { return describe(t, "tamper-a") })
	}
	// Users who may update ResourceQuotas may change managed fields. kube-apiserver applies no merge patch with such ones, and
	// sends no review of the use that can be decoded.
	for what, entry := range map[string]metav1.ManagedFieldsEntry{
		"levels": {FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:a":`, 9_998) + "{}" + strings.Repeat("}", 9_998))},
		"time":   {FieldsV1: metav1.NewFieldsV1(`{"f:a":{}}`), Time: &metav1.Time{Time: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}},
	} {
		entry.Manager, entry.Operation, entry.APIVersion, entry.FieldsType = "tenant", metav1.ManagedFieldsOperationUpdate, "v1", "FieldsV1"
		suite.Must(t, what, func() error {
			rq, err := client.Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			rq.ManagedFields = append(rq.ManagedFields, entry)
			_, err = admin.CoreV1().ResourceQuotas("tamper-a").Update(t.Context(), rq, metav1.UpdateOptions{})
			return err
		})
		suite.EventuallyEqual(t, what, "0 managers", func() string {
			rq, err := client.Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(len(rq.ManagedFields), " managers")
		})
		createSecrets(t, "tamper-a", what)
	}
	limit(t, "tamper-a", "q", "secrets=2")
	suite.EventuallyEqual(t, "limits", "secrets=2 map[hnc.x-k8s.io/hrq:true] map[propagate.hnc.x-k8s.io/none:true]", func() string { return describe(t, "tamper-a") })
	if err := client.Delete(t.Context(), hnc.ResourceQuotaName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantHard(t, "tamper-a", "secrets=2")
	wantStatus(t, "tamper-a", "q", "secrets=2", held)
}

// describe returns the limits and the metadata of the ResourceQuota of ours.
func describe(t *testing.T, namespace string) string {
	t.Helper()
	rq, err := admin.CoreV1().ResourceQuotas(namespace).Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(text(rq.Spec.Hard), " ", rq.Labels, " ", rq.Annotations)
}

func TestResourceQuotasOfOurNameAreTakenOver(t *testing.T) {
	tree(t, "taken-", "a")
	rq := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: hnc.ResourceQuotaName},
		Spec:       corev1.ResourceQuotaSpec{Hard: limits("pods=100"), Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}},
	}
	if _, err := intruder(t).CoreV1().ResourceQuotas("taken-a").Create(t.Context(), rq, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	limit(t, "taken-a", "q", "secrets=2")
	wantHard(t, "taken-a", "secrets=2")
	rq, err := admin.CoreV1().ResourceQuotas("taken-a").Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
	if err != nil || len(rq.Spec.Scopes) > 0 {
		t.Errorf("scopes %v, %v", rq.Spec.Scopes, err)
	}
}

func TestQuotasOfOneScopeShareAResourceQuota(t *testing.T) {
	tree(t, "scope-", "root", "leaf<root")
	for name, pods := range map[string]string{"a": "pods=5", "b": "pods=4"} {
		q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(limits(pods))}}
		if name == "a" {
			q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}
		} else {
			q.Spec.ScopeSelector = &v1beta1.QuotaScopeSelector{MatchExpressions: []v1beta1.QuotaScopeRequirement{
				{ScopeName: corev1.ResourceQuotaScopeBestEffort, Operator: corev1.ScopeSelectorOpExists},
			}}
		}
		if _, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas("scope-root").Create(t.Context(), q, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	limit(t, "scope-leaf", "c", "pods=9")
	suite.EventuallyEqual(t, "ResourceQuotas", "pods=4, pods=9", func() string {
		list, err := admin.CoreV1().ResourceQuotas("scope-leaf").List(t.Context(), metav1.ListOptions{LabelSelector: hnc.LabelQuota + "=true"})
		if err != nil {
			return err.Error()
		}
		var found [2]string
		for _, rq := range list.Items {
			if rq.Name == hnc.ResourceQuotaName {
				found[1] = text(rq.Spec.Hard)
			} else {
				found[0] = text(rq.Spec.Hard)
			}
		}
		return strings.Join(found[:], ", ")
	})
}

func TestFailedWritesAreReportedByEveryQuotaAbove(t *testing.T) {
	tree(t, "denied-", "root", "mid<root", "leaf<mid")
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "denied-leaf"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"resourcequotas"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: "request.namespace != 'denied-leaf'", Message: "no quotas here"}},
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
	suite.Eventually(t, "the policy", func() error {
		_, err := admin.CoreV1().ResourceQuotas("denied-leaf").Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "probe"}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("created")
		}
		return nil
	})
	limit(t, "denied-root", "r", "secrets=3")
	limit(t, "denied-mid", "m", "secrets=2")
	for _, q := range []struct{ namespace, name string }{{"denied-root", "r"}, {"denied-mid", "m"}} {
		wantStatus(t, q.namespace, q.name, "secrets=0", "Ready=CannotWriteResourceQuota Exceeded=WithinLimit")
		suite.Eventually(t, "an event in "+q.namespace, func() error {
			events, err := admin.CoreV1().Events(q.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + hnc.EventCannotWriteQuota})
			if err != nil {
				return err
			}
			for _, e := range events.Items {
				if e.InvolvedObject.Name == q.name && e.Type == corev1.EventTypeWarning && e.Source.Component == hnc.GroupName &&
					strings.HasPrefix(e.Message, `could not create/update lower-level ResourceQuota in namespace "denied-leaf": `) {
					return nil
				}
			}
			return fmt.Errorf("none of %d", len(events.Items))
		})
	}
	if err := client.ValidatingAdmissionPolicyBindings().Delete(t.Context(), policy.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantHard(t, "denied-leaf", "secrets=2")
	wantStatus(t, "denied-root", "r", "secrets=0", held)
}

func TestSubnamespacesAreLimitedWhenTheyAreReady(t *testing.T) {
	tree(t, "sub-", "root")
	limit(t, "sub-root", "q", "secrets=1 count/subnamespaces.hnc.x-k8s.io=5")
	wantStatus(t, "sub-root", "q", "count/subnamespaces.hnc.x-k8s.io=0 secrets=0", held)
	for _, name := range []string{"sub-a", "sub-b"} {
		if _, err := admin.HNC.HncV1beta1().Subnamespaces("sub-root").Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		rq, err := admin.CoreV1().ResourceQuotas(name).Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(rq.Status.Hard); got != "secrets=1" {
			t.Errorf("%s is ready, with limits %q in force", name, got)
		}
	}
	createSecrets(t, "sub-a", "first")
	if err := createSecret(t, "sub-a", "second"); !apierrors.IsForbidden(err) {
		t.Errorf("more than the limit: %v", err)
	}
	wantStatus(t, "sub-root", "q", "count/subnamespaces.hnc.x-k8s.io=2 secrets=1", held)
	wantNamespaces(t, "sub-root", "q", "sub-a: secrets=1", "sub-root: count/subnamespaces.hnc.x-k8s.io=2")
}

// What limits a new sub-namespace is in force before anybody gets permissions there.
func TestPermissionsInSubnamespacesComeAfterTheirLimits(t *testing.T) {
	tree(t, "order-", "root")
	propagate(t, v1beta1.ResourceSpec{Group: networkingv1.GroupName, Resource: "networkpolicies", Mode: v1beta1.Propagate})
	t.Cleanup(func() { propagate(t) })
	if _, err := admin.NetworkingV1().NetworkPolicies("order-root").Create(t.Context(), &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "deny"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	editor := editorIn(t, "order-editor", "order-root")
	limit(t, "order-root", "q", "services=2")
	wantStatus(t, "order-root", "q", "services=0", held)
	sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "order-sub"}}
	if _, err := editor.HNC.HncV1beta1().Subnamespaces("order-root").Create(t.Context(), sub, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	rq, err := editor.CoreV1().ResourceQuotas("order-sub").Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(rq.Status.Hard); got != "services=2" {
		t.Errorf("limits in force: %q", got)
	}
	policy, err := admin.NetworkingV1().NetworkPolicies("order-sub").Get(t.Context(), "deny", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding, err := admin.RbacV1().RoleBindings("order-sub").Get(t.Context(), "order-editor", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for kind, earlier := range map[string]metav1.Object{"ResourceQuota": rq, "NetworkPolicy": policy} {
		if order, err := resourceversion.CompareResourceVersion(earlier.GetResourceVersion(), binding.ResourceVersion); err != nil || order >= 0 {
			t.Errorf("the RoleBinding has the version %s, the %s %s: %v", binding.ResourceVersion, kind, earlier.GetResourceVersion(), err)
		}
	}
}

func TestResourceQuotasOfTerminatingNamespacesAreNotCreatedAgain(t *testing.T) {
	tree(t, "ends-", "root", "leaf<root")
	limit(t, "ends-root", "q", "secrets=4")
	wantHard(t, "ends-leaf", "secrets=4")
	createSecrets(t, "ends-leaf", "a")
	if err := admin.CoreV1().Namespaces().Delete(t.Context(), "ends-leaf", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the namespace goes", func() error {
		_, err := admin.CoreV1().Namespaces().Get(t.Context(), "ends-leaf", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there: %w", err)
	})
	wantStatus(t, "ends-root", "q", "secrets=0", held)
}
