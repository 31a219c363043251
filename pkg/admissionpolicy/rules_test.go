package admissionpolicy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// row is a write and its expected result.
type row struct {
	name string
	request
	// denied is a part of the error message; empty if the write is allowed.
	denied string
	// invalid reports that the error is Invalid instead of Forbidden.
	invalid bool
	// included is the stored value of label included-namespace, if it matters; "none" if it is absent.
	included string
}

// rowsOf returns the rows of each manifest, which need no other one.
func rowsOf() map[string][]row {
	return map[string][]row{
		"copies.yaml": copiesRows(), "exceptions.yaml": exceptionsRows(), "tree-labels.yaml": treeLabelsRows(), "included-namespace.yaml": includedNamespaceRows(),
		"external-namespaces.yaml": externalNamespacesRows(), "namespace-deletion.yaml": namespaceDeletionRows(), "resource-quotas.yaml": resourceQuotasRows(),
		"repositories.yaml": repositoriesRows(), "view-grants.yaml": viewGrantsRows(), "propagator/view-definitions.yaml": viewDefinitionsRows(),
	}
}

// reason is the expected reason of the error.
func (r row) reason() metav1.StatusReason {
	if r.invalid {
		return metav1.StatusReasonInvalid
	}
	return metav1.StatusReasonForbidden
}

// check describes how the result of the row's request differs from the expected one, or returns "".
func (r row) check(stored runtime.Object, err error) string {
	switch {
	case r.denied == "" && err != nil:
		return fmt.Sprintf("want it allowed, got: %v", err)
	case r.denied != "" && err == nil:
		return "want it denied, but it is allowed"
	case r.denied != "" && (apierrors.ReasonForError(err) != r.reason() || !strings.Contains(err.Error(), r.denied)):
		return fmt.Sprintf("want it refused as %s with message %q, got: %v", r.reason(), r.denied, err)
	case r.included != "":
		object, err := meta.Accessor(stored)
		if err != nil {
			return err.Error()
		}
		value, found := object.GetLabels()[hnc.LabelIncludedNamespace]
		if !found {
			value = "none"
		}
		if value != r.included {
			return fmt.Sprintf("want label %s to be %q, got %q", hnc.LabelIncludedNamespace, r.included, value)
		}
	}
	return ""
}

// problem sends the request of the row and describes how the result differs from the expected one, or returns "".
func (r row) problem(t *testing.T, chain *admissionChain) string {
	stored, err := chain.admit(t.Context(), r.request)
	return r.check(stored, err)
}

func TestPoliciesAllowAndDeny(t *testing.T) {
	chain := newAdmissionChain(t, installed(t, manifestFiles(t)...))
	for _, rows := range rowsOf() {
		for _, r := range rows {
			t.Run(r.name, func(t *testing.T) {
				if problem := r.problem(t, chain); problem != "" {
					t.Error(problem)
				}
			})
		}
	}
}

// A rule that no row needs is not tested. A manifest is tested alone, because the policies of all take long to compile.
func TestEveryPartOfThePoliciesIsNeededByARow(t *testing.T) {
	all := rowsOf()
	for _, file := range manifestFiles(t) {
		policies, rows := installed(t, file), all[file]
		complete := newAdmissionChain(t, policies)
		took := map[string]time.Duration{}
		for _, r := range rows {
			begin := time.Now()
			if problem := r.problem(t, complete); problem != "" {
				t.Errorf("%s alone: %s: %s", file, r.name, problem)
			}
			took[r.name] = time.Since(begin)
		}
		// One row is enough to notice that a part is missing.
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(took[a.name], took[b.name]) })
		for name, policies := range mutilated(policies) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				chain := newAdmissionChain(t, policies)
				if !slices.ContainsFunc(rows, func(r row) bool { return r.problem(t, chain) != "" }) {
					t.Error("no row notices that this part is missing")
				}
			})
		}
	}
}

// mutilated returns the policies once for each of their parts, without this part.
func mutilated(all []runtime.Object) map[string][]runtime.Object {
	result := map[string][]runtime.Object{}
	add := func(i int, without runtime.Object, part string) {
		name := all[i].(interface{ GetName() string }).GetName()
		policies := slices.Clone(all)
		policies[i] = without
		result[fmt.Sprintf("%T %s without %s", without, name, part)] = policies
	}
	for i, object := range all {
		switch policy := object.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			for j := range policy.Spec.Validations {
				without := policy.DeepCopy()
				without.Spec.Validations = slices.Delete(without.Spec.Validations, j, j+1)
				add(i, without, fmt.Sprintf("validation %d", j))
			}
			forEachMatch(policy.Spec.MatchConditions, policy.Spec.MatchConstraints, func(part string, conditions []admissionregistrationv1.MatchCondition, match *admissionregistrationv1.MatchResources) {
				without := policy.DeepCopy()
				without.Spec.MatchConditions, without.Spec.MatchConstraints = conditions, match
				add(i, without, part)
			})
		case *admissionregistrationv1.MutatingAdmissionPolicy:
			forEachMatch(policy.Spec.MatchConditions, policy.Spec.MatchConstraints, func(part string, conditions []admissionregistrationv1.MatchCondition, match *admissionregistrationv1.MatchResources) {
				without := policy.DeepCopy()
				without.Spec.MatchConditions, without.Spec.MatchConstraints = conditions, match
				add(i, without, part)
			})
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			without := policy.DeepCopy()
			without.Spec.PolicyName = "none"
			add(i, without, "its policy")
		case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
			without := policy.DeepCopy()
			without.Spec.PolicyName = "none"
			add(i, without, "its policy")
		}
	}
	return result
}

// forEachMatch calls with with the conditions and constraints once for each condition, operation, resource, excluded
// resource and the namespace selector, without this one. Object selectors are omitted: they save work, and conditions
// make the same decision.
func forEachMatch(conditions []admissionregistrationv1.MatchCondition, match *admissionregistrationv1.MatchResources,
	with func(part string, conditions []admissionregistrationv1.MatchCondition, match *admissionregistrationv1.MatchResources)) {
	for j, condition := range conditions {
		with("condition "+condition.Name, slices.Delete(slices.Clone(conditions), j, j+1), match)
	}
	f := func(part string, match *admissionregistrationv1.MatchResources) { with(part, conditions, match) }
	for j, rule := range match.ResourceRules {
		for k, operation := range rule.Operations {
			without := match.DeepCopy()
			without.ResourceRules[j].Operations = slices.Delete(without.ResourceRules[j].Operations, k, k+1)
			f("operation "+string(operation), without)
		}
		for k, resource := range rule.Resources {
			without := match.DeepCopy()
			without.ResourceRules[j].Resources = slices.Delete(without.ResourceRules[j].Resources, k, k+1)
			f("resource "+strings.ReplaceAll(resource, "/", " "), without)
		}
	}
	for j, rule := range match.ExcludeResourceRules {
		for k, group := range rule.APIGroups {
			without := match.DeepCopy()
			without.ExcludeResourceRules[j].APIGroups = slices.Delete(without.ExcludeResourceRules[j].APIGroups, k, k+1)
			f(fmt.Sprintf("exclusion of %s of group %q", rule.Resources, group), without)
		}
	}
	if len(match.NamespaceSelector.MatchLabels) > 0 {
		without := match.DeepCopy()
		without.NamespaceSelector = &metav1.LabelSelector{}
		f("selector of namespaces", without)
	}
}

// A policy with parameters denies all requests after a restart of kube-apiserver until they have been read.
func TestPoliciesHaveNoParameters(t *testing.T) {
	for _, object := range installed(t, manifestFiles(t)...) {
		switch policy := object.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			if policy.Spec.ParamKind != nil {
				t.Errorf("%s has parameters", policy.Name)
			}
		case *admissionregistrationv1.MutatingAdmissionPolicy:
			if policy.Spec.ParamKind != nil {
				t.Errorf("%s has parameters", policy.Name)
			}
		}
	}
}

// What is denied is annotated in kube-apiserver's audit log, too.
func TestDenialsAreAudited(t *testing.T) {
	for _, object := range objects(t, manifestFiles(t)...) {
		binding, ok := object.(*admissionregistrationv1.ValidatingAdmissionPolicyBinding)
		if want := []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny, admissionregistrationv1.Audit}; ok && !slices.Equal(binding.Spec.ValidationActions, want) {
			t.Errorf("the actions of %s are %v, want %v", binding.Name, binding.Spec.ValidationActions, want)
		}
	}
}
