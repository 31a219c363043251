package kinds

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// namespaceConditions returns what the configuration reports of namespaces in a version, as "reason: message" in order.
func namespaceConditions(t *testing.T, version string) string {
	t.Helper()
	client := operator.Dynamic.Resource(schema.GroupVersionResource{Group: hnc.GroupName, Version: version, Resource: "hncconfigurations"})
	u, err := client.Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	problems, _, _ := unstructured.NestedSlice(u.Object, "status", "problems")
	var reported []string
	for _, entry := range append(list, problems...) {
		if c := entry.(map[string]any); c["type"] == hnc.ConditionNamespace && c["status"] != "False" && c["reason"] != hnc.ReasonMultipleProblems {
			reported = append(reported, fmt.Sprint(c["reason"], ": ", c["message"]))
		}
	}
	return strings.Join(reported, "\n")
}

// metric returns the value of one of the propagator's metrics, which is named with its labels.
func metric(t *testing.T, name string) string {
	t.Helper()
	samples, err := cp.Metrics(t.Context(), "hns-propagator")
	if err != nil {
		return err.Error()
	}
	if value, ok := samples[name]; ok {
		return fmt.Sprint(value)
	}
	return "absent"
}

func eventuallyMetric(t *testing.T, name, want string) {
	t.Helper()
	suite.EventuallyEqual(t, name, want, func() string { return metric(t, name) })
}

// TestNamespaceConditions has docs/spec/hnc.md 3.12, step 7, and the last row of 5.2.
func TestNamespaceConditions(t *testing.T) {
	const (
		missing  = `hnc_namespace_conditions{Condition="ActivitiesHalted",Reason="ParentMissing"}`
		ancestor = `hnc_namespace_conditions{Condition="ActivitiesHalted",Reason="AncestorHaltActivities"}`
		anchor   = `hnc_namespace_conditions{Condition="BadConfiguration",Reason="SubnamespaceAnchorMissing"}`
	)
	for _, name := range []string{
		missing, ancestor, anchor,
		`hnc_namespace_conditions{Condition="BadConfiguration",Reason="IllegalManagedLabel"}`,
		`hnc_namespace_conditions{Condition="ActivitiesHalted",Reason="DeletingCRD"}`,
	} {
		eventuallyMetric(t, name, "0")
	}
	root, _, leaf := tree(t, "conditions")
	namespace(t, "conditions-leaf-2", "conditions-mid")
	namespace(t, "conditions-claims", root)
	if err := alice.CoreV1().Namespaces().Delete(t.Context(), root, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	claim := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, hnc.AnnotationSubnamespaceOf, leaf)
	if _, err := alice.CoreV1().Namespaces().Patch(t.Context(), "conditions-claims", types.MergePatchType, []byte(claim), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	halted := `2 namespaces "conditions-claims", "conditions-mid" are affected by "ParentMissing"`
	all := "ActivitiesHalted: " + halted + `; 2 namespaces "conditions-leaf", "conditions-leaf-2" are affected by "AncestorHaltActivities"` +
		"\n" + `BadConfiguration: Namespaces "conditions-claims" is affected by "SubnamespaceAnchorMissing"`
	suite.EventuallyEqual(t, "conditions in v1beta1", all, func() string { return namespaceConditions(t, "v1beta1") })
	suite.EventuallyEqual(t, "conditions in v1alpha2, of which there is one", "ActivitiesHalted: "+halted, func() string { return namespaceConditions(t, "v1alpha2") })
	eventuallyMetric(t, missing, "2")
	eventuallyMetric(t, ancestor, "2")
	eventuallyMetric(t, anchor, "1")
	suite.EventuallyEqual(t, "the configuration itself", hnc.ReasonReady, func() string { reason, _ := condition(t, hnc.ConditionReady); return reason })

	// A replica that takes over reports the same, and all is well once the cause is gone.
	if err := cp.Kill(t.Context(), "hns-propagator"); err != nil {
		t.Fatal(err)
	}
	if _, err := cp.StartServer(t.Context(), installation, propagator()); err != nil {
		t.Fatal(err)
	}
	eventuallyMetric(t, missing, "2")
	if got := namespaceConditions(t, "v1beta1"); got != all {
		t.Errorf("after a restart %s", got)
	}
	claim = fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, hnc.AnnotationSubnamespaceOf)
	if _, err := alice.CoreV1().Namespaces().Patch(t.Context(), "conditions-claims", types.MergePatchType, []byte(claim), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	namespace(t, root, "")
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		suite.EventuallyEqual(t, "conditions in "+version, "", func() string { return namespaceConditions(t, version) })
	}
	for _, name := range []string{missing, ancestor, anchor} {
		eventuallyMetric(t, name, "0")
	}
}
