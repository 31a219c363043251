package migration

import (
	"bytes"
	"context"
	"strconv"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/admissionpolicy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	// probeName is the name of a ConfigMap that the policy rejects for every user: so the migration knows when the
	// policy is in force.
	probeName = "hns-migration-probe"
	// probes is how often in a row the policy must be in force. They usually reach the same API server; the others of a
	// cluster learn of the policy at about the same time.
	probes = 5
	// freezeTimeout limits how long that may take.
	freezeTimeout = time.Minute
)

// freezePolicy rejects changes of hierarchies and of what namespaces say about them, and Roles and RoleBindings that copies
// might overwrite, by others than the user. Kubernetes' own controllers may finish deleting namespaces, and so may the servers do their work: HNC until it is
// stopped, hns-propagator when it has started.
func freezePolicy(user string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	rule := func(group string, operations []admissionregistrationv1.OperationType, names []string, resources ...string) admissionregistrationv1.NamedRuleWithOperations {
		return admissionregistrationv1.NamedRuleWithOperations{ResourceNames: names, RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: operations, Rule: admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: resources},
		}}
	}
	writes := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete}
	who := strconv.Quote(user)
	message := `'hierarchies, and new Roles and RoleBindings in them, are frozen while ' + ` + who + ` + ' migrates them from HNC; try again later. To end the migration: kubectl hns migrate, or kubectl hns migrate rollback'`
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: hnc.MigrationPolicy},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: ptr.To(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{
				rule(hnc.GroupName, writes, nil, hierarchyConfigurations, anchors, configurations, quotas, "hierarchies", "subnamespaces"),
				rule("", writes, nil, "namespaces", "namespaces/status", "namespaces/finalize"),
				rule("", writes[:1], []string{probeName}, "configmaps"),
				// HNC's webhook rejects those that copies would overwrite, and without it they would stop the import.
				rule(rbacv1.GroupName, writes[:2], nil, "roles", "rolebindings"),
			}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{
				Name: "not-by-the-migration-or-a-controller",
				Expression: `request.resource.resource == 'configmaps' || !(request.userInfo.username in [` + who + `,` +
					` '` + hnc.NamespaceControllerUser + `', 'system:serviceaccount:kube-system:generic-garbage-collector'] ||` +
					` request.userInfo.username.startsWith('system:serviceaccount:` + hnc.HNCNamespace + `:') ||` +
					` request.userInfo.username.startsWith('system:serviceaccount:` + hnc.SystemNamespace + `:'))`,
			}},
			Variables: []admissionregistrationv1.Variable{
				{Name: "labelsBefore", Expression: "oldObject == null ? {} : oldObject.metadata.?labels.orValue({})"},
				{Name: "labels", Expression: "object == null ? {} : object.metadata.?labels.orValue({})"},
				{Name: "annotationsBefore", Expression: "oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})"},
				{Name: "annotations", Expression: "object == null ? {} : object.metadata.?annotations.orValue({})"},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: "request.resource.group == '" + rbacv1.GroupName + "' ? " + noConflict + " : " +
					"request.resource.group == '' && request.resource.resource == 'namespaces' && (" + sameTree + ")",
				MessageExpression: message,
				Reason:            ptr.To(metav1.StatusReasonForbidden),
			}},
		},
	}
}

// sameTree is an expression for writes of namespaces that change nothing that says something about hierarchies. HNC
// labels each namespace that it manages with its distance from itself, so those can't be deleted.
const sameTree = "request.operation == 'DELETE' ? !variables.labelsBefore.exists(key, key.endsWith('" + hnc.LabelTreeSuffix + "')) : (" +
	"variables.labels.all(key, !key.endsWith('" + hnc.LabelTreeSuffix + "') || key in variables.labelsBefore && variables.labelsBefore[key] == variables.labels[key]) && " +
	"variables.labelsBefore.all(key, !key.endsWith('" + hnc.LabelTreeSuffix + "') || key in variables.labels) && " +
	"['" + hnc.AnnotationSubnamespaceOf + "', '" + hnc.AnnotationManagedBy + "'].all(key, " +
	"(key in variables.annotations ? variables.annotations[key] : '') == (key in variables.annotationsBefore ? variables.annotationsBefore[key] : '')))"

// noConflict is an expression for writes of Roles and RoleBindings that give no copy a new object to overwrite: in
// namespaces that HNC does not manage or that are ours, and updates that leave the exceptions to propagation.
const noConflict = "request.namespace == '" + hnc.SystemNamespace + "' || !namespaceObject.metadata.?labels.orValue({}).exists(key, key.endsWith('" + hnc.LabelTreeSuffix + "')) || " +
	"request.operation == 'UPDATE' && variables.labels == variables.labelsBefore && " +
	"variables.annotations.all(key, !key.startsWith('propagate.hnc.x-k8s.io/') || key in variables.annotationsBefore && variables.annotationsBefore[key] == variables.annotations[key]) && " +
	"variables.annotationsBefore.all(key, !key.startsWith('propagate.hnc.x-k8s.io/') || key in variables.annotations)"

// copiesPolicy is the policy that protects copies after a migration, but for HNC, which writes copies until it is
// stopped, and again after a rollback. It takes the place of HNC's webhooks.
func copiesPolicy() (*admissionregistrationv1.ValidatingAdmissionPolicy, error) {
	installed := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(admissionpolicy.Copies), len(admissionpolicy.Copies)).Decode(installed); err != nil {
		return nil, err
	}
	installed.Name = hnc.MigrationCopiesPolicy
	installed.Spec.MatchConditions = append(installed.Spec.MatchConditions, admissionregistrationv1.MatchCondition{
		Name: "not-by-hnc", Expression: "!request.userInfo.username.startsWith('system:serviceaccount:" + hnc.HNCNamespace + ":')",
	})
	return installed, nil
}

// freeze installs the policies, and returns when the one about hierarchies is in force.
func (c *clients) freeze(ctx context.Context, user string) error {
	copies, err := copiesPolicy()
	if err != nil {
		return err
	}
	for _, p := range []*admissionregistrationv1.ValidatingAdmissionPolicy{copies, freezePolicy(user)} {
		if err := c.install(ctx, p); err != nil {
			return err
		}
	}
	return c.awaitFreeze(ctx)
}

// install creates or replaces a policy, and binds it.
func (c *clients) install(ctx context.Context, policy *admissionregistrationv1.ValidatingAdmissionPolicy) error {
	policies, bindings := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies(), c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	_, err := policies.Create(ctx, policy, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		var existing *admissionregistrationv1.ValidatingAdmissionPolicy
		if existing, err = policies.Get(ctx, policy.Name, metav1.GetOptions{}); err == nil {
			policy.ResourceVersion = existing.ResourceVersion
			_, err = policies.Update(ctx, policy, metav1.UpdateOptions{FieldManager: fieldManager})
		}
	}
	if err != nil {
		return err
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	if _, err := bindings.Create(ctx, binding, metav1.CreateOptions{FieldManager: fieldManager}); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// awaitFreeze returns when the policy has rejected the probe several times in a row.
func (c *clients) awaitFreeze(ctx context.Context) error {
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: probeName, Namespace: hnc.SystemNamespace}}
	rejected := 0
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, freezeTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := c.kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		switch {
		case err == nil:
			rejected = 0
		case apierrors.IsForbidden(err):
			rejected++
		default:
			return false, err
		}
		return rejected == probes, nil
	})
	return waitError(ctx, err, "validatingadmissionpolicy %s is not in force after %s; look at its status", hnc.MigrationPolicy, freezeTimeout)
}

// unfreeze removes the policies.
func (c *clients) unfreeze(ctx context.Context) error {
	for _, name := range []string{hnc.MigrationPolicy, hnc.MigrationCopiesPolicy} {
		if err := gone(c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, name, metav1.DeleteOptions{})); err != nil {
			return err
		}
		if err := gone(c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, name, metav1.DeleteOptions{})); err != nil {
			return err
		}
	}
	return nil
}
