package children

import (
	"fmt"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestRequiredChildrenAreThere(t *testing.T) {
	namespaces(t, "req")
	alice := newUser(t, "alice-req")
	alice.admin(t, "req")
	if err := alice.hierarchy(t, "req", requires("req-a", "req-b")); err != nil {
		t.Fatal(err)
	}
	for _, child := range []string{"req-a", "req-b"} {
		s := eventuallyReady(t, "req", child)
		if s.Annotations[hnc.AnnotationRequired] != "true" || s.Annotations[hnc.AnnotationRequester] != "" {
			t.Errorf("got the annotations %v", s.Annotations)
		}
		if c := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionRequired); c == nil || c.Status != metav1.ConditionTrue || c.Reason != hnc.ReasonRequired {
			t.Errorf("got the conditions %+v", s.Status.Conditions)
		}
		alice.eventuallyMay(t, "update", hnc.GroupName, "hierarchies", child, "")
	}

	t.Run("one that is deleted comes back", func(t *testing.T) {
		old := eventuallyReady(t, "req", "req-a").UID
		if err := alice.HNC.HncV1beta1().Subnamespaces("req").Delete(t.Context(), "req-a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "req-a is there again", func() error {
			s, err := root.HNC.HncV1beta1().Subnamespaces("req").Get(t.Context(), "req-a", metav1.GetOptions{})
			if err == nil && (s.UID == old || !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady)) {
				err = fmt.Errorf("got %+v", s)
			}
			return err
		})
	})

	t.Run("one that is not required any more stays until it is deleted", func(t *testing.T) {
		if err := alice.hierarchy(t, "req", requires("req-a")); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "req-b reports that it is not required", func() error {
			s, err := root.HNC.HncV1beta1().Subnamespaces("req").Get(t.Context(), "req-b", metav1.GetOptions{})
			if err != nil {
				return err
			}
			c := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionRequired)
			if c == nil || c.Status != metav1.ConditionFalse || c.Reason != hnc.ReasonNotRequired || !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) {
				return fmt.Errorf("got %+v", s.Status.Conditions)
			}
			return nil
		})
		if err := alice.HNC.HncV1beta1().Subnamespaces("req").Delete(t.Context(), "req-b", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "req-b is gone", func() error {
			_, err := root.CoreV1().Namespaces().Get(t.Context(), "req-b", metav1.GetOptions{})
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("got %w", err)
			}
			_, err = root.HNC.HncV1beta1().Subnamespaces("req").Get(t.Context(), "req-b", metav1.GetOptions{})
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	})

	t.Run("they go with their parent", func(t *testing.T) {
		if _, err := root.HNC.HncV1beta1().Hierarchies("req").Patch(t.Context(), hnc.Singleton, types.MergePatchType,
			[]byte(`{"spec":{"allowCascadingDeletion":true}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "the deletion of req is accepted", func() error {
			return root.CoreV1().Namespaces().Delete(t.Context(), "req", metav1.DeleteOptions{})
		})
		for _, name := range []string{"req", "req-a"} {
			suite.Eventually(t, name+" is gone", func() error {
				if _, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					return fmt.Errorf("got %w", err)
				}
				return nil
			})
		}
	})
}

func TestNamingARequiredChildIsValidatedLikeItsCreation(t *testing.T) {
	namespaces(t, "required", "required-other", "required-full")
	alice := newUser(t, "alice-required")
	alice.admin(t, "required", "required-other")
	if _, err := alice.subnamespace(t, "required-other", "required-taken"); err != nil {
		t.Fatal(err)
	}
	mallory := newUser(t, "mallory-required")
	mallory.grant(t, "required", "get,create,update hnc.x-k8s.io/hierarchies")
	if err := alice.hierarchy(t, "required", requires()); err != nil {
		t.Fatal(err)
	}

	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("required-many-", i)
	}
	for name, row := range map[string]struct {
		children []string
		is       func(error) bool
		says     []string
	}{
		"no name of a namespace": {[]string{"required-a", "Not_a_name"}, apierrors.IsInvalid, []string{"spec.requiredChildren[1]", "must be the name of a namespace"}},
		"with a dot":             {[]string{"required.a"}, apierrors.IsInvalid, []string{"spec.requiredChildren[0]"}},
		"twice":                  {[]string{"required-a", "required-a"}, apierrors.IsInvalid, []string{"spec.requiredChildren[1]", "Duplicate"}},
		"too many":               {many, apierrors.IsInvalid, []string{"spec.requiredChildren: Too many", "100"}},
		"excluded":               {[]string{"required-a", "kube-system"}, apierrors.IsForbidden, []string{"spec.requiredChildren[1]", `"kube-system" is excluded`}},
		"a full namespace":       {[]string{"required-full"}, apierrors.IsConflict, []string{"spec.requiredChildren[0]", `"required-full" exists already`}},
		"somebody's":             {[]string{"required-taken"}, apierrors.IsConflict, []string{"spec.requiredChildren[0]", `"required-taken" has another parent already`}},
		"itself":                 {[]string{"required"}, apierrors.IsConflict, []string{"spec.requiredChildren[0]", `"required" exists already`}},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, "v1beta1", alice.hierarchy(t, "required", requires(row.children...)), row.is, row.says...)
		})
	}
	t.Run("by who may not create it", func(t *testing.T) {
		refused(t, "mallory", mallory.hierarchy(t, "required", requires("required-m")), apierrors.IsForbidden, "spec.requiredChildren", "create on subnamespaces.hnc.x-k8s.io")
		// Another user, for the server remembers for some seconds the answer about this one.
		oscar := newUser(t, "oscar-required")
		oscar.grant(t, "required", "get,create,update hnc.x-k8s.io/hierarchies", "create hnc.x-k8s.io/subnamespaceanchors")
		if err := oscar.hierarchy(t, "required", requires("required-m")); err != nil {
			t.Errorf("who may create it under its other name got %v", err)
		}
		eventuallyReady(t, "required", "required-m")
	})
	t.Run("nobody asks again about those that are listed", func(t *testing.T) {
		eve := newUser(t, "eve-required")
		eve.grant(t, "required", "get,create,update hnc.x-k8s.io/hierarchies")
		if err := eve.hierarchy(t, "required", requires()); err != nil {
			t.Errorf("who may write the hierarchy could not shorten the list: %v", err)
		}
		refused(t, "eve", eve.hierarchy(t, "required", requires("required-m")), apierrors.IsForbidden, "spec.requiredChildren")
	})
}

// applied returns a manifest of the singleton for server-side apply.
func applied(apiVersion, kind string, content map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	spec := content["spec"].(map[string]any)
	if names, ok := spec["requiredChildren"].([]string); ok {
		var list []any
		for _, name := range names {
			list = append(list, name)
		}
		spec["requiredChildren"] = list
	}
	u.Object["spec"] = spec
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetName(hnc.Singleton)
	return u
}

func TestARefusedRequiredChildIsReportedAndTheRestGoesOn(t *testing.T) {
	namespaces(t, "late")
	alice := newUser(t, "alice-late")
	alice.admin(t, "late")
	stopped(t, func() {
		if err := alice.hierarchy(t, "late", requires("late-taken", "late-free")); err != nil {
			t.Fatal(err)
		}
		namespaces(t, "late-taken")
	})
	eventuallyReady(t, "late", "late-free")
	eventuallyReports(t, "late", hnc.ReasonRequiredChildRefused, `required child "late-taken" can't be created`, "exists already")
	if _, err := root.HNC.HncV1beta1().Subnamespaces("late").Get(t.Context(), "late-taken", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if err := root.CoreV1().Namespaces().Delete(t.Context(), "late-taken", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyReady(t, "late", "late-taken")
	eventuallyReports(t, "late", "-"+hnc.ReasonRequiredChildRefused)
}

func TestWhatTheServerRefusesIsTriedAgain(t *testing.T) {
	namespaces(t, "denied")
	alice := newUser(t, "alice-denied")
	alice.admin(t, "denied")
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-more"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{hnc.GroupName}, APIVersions: []string{"*"}, Resources: []string{"subnamespaces"}},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "object.metadata.namespace != 'denied'", Message: "there is no room for more"}},
		},
	}
	policies := root.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	bindings := root.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	if _, err := bindings.Create(t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "no-more"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "no-more", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the policy has effect", func() error {
		_, err := root.HNC.HncV1beta1().Subnamespaces("denied").Create(t.Context(), subnamespaceOf("denied-probe"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	if err := alice.hierarchy(t, "denied", requires("denied-child")); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "denied", hnc.ReasonRequiredChildRefused, `required child "denied-child" can't be created`, "there is no room for more")
	if err := bindings.Delete(t.Context(), "no-more", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := policies.Delete(t.Context(), "no-more", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyReady(t, "denied", "denied-child")
	eventuallyReports(t, "denied", "-"+hnc.ReasonRequiredChildRefused)
	h, err := root.HNC.HncV1beta1().Hierarchies("denied").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil || !slices.Contains(h.Spec.RequiredChildren, "denied-child") {
		t.Errorf("got %v, %v", h, err)
	}
}
