package managed

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Spec/hnc.md 3.3.
func TestCase10ManagedMetadataFlowsDown(t *testing.T) {
	namespace(t, "flow")
	namespace(t, "flow-full")
	mustSetHierarchy(t, "flow-full", parent("flow"))
	mustSetHierarchy(t, "flow", func(s *v1beta1.HierarchySpec) {
		s.Labels, s.Annotations = pairs("team=red", "example.com/tier=gold"), pairs("note=from the top")
	})
	eventuallyHas(t, "flow", "team=red", "@note=from the top")
	eventuallyHas(t, "flow-full", "team=red", "example.com/tier=gold", "@note=from the top")

	// 3.3b: what is set directly is corrected; what is not managed stays.
	patchNamespace(t, "flow-full", `{"metadata":{"labels":{"team":"blue","env":"mine","other":"stays"},"annotations":{"note":null,"free":"stays"}}}`)
	eventuallyHas(t, "flow-full", "team=red", "env!", "other=stays", "@note=from the top", "@free=stays")

	// 3.3d: the highest ancestor wins, and the conflict is reported with both levels.
	mustSetHierarchy(t, "flow-full", labels("team=green", "env=test"))
	eventuallyHas(t, "flow-full", "team=red", "env=test")
	eventuallyConditions(t, "flow-full", "BadConfiguration=ManagedLabelConflict Ready=ManagedLabelConflict", `"green" by namespace "flow-full"`, `"red" by its ancestor "flow"`)
	mustSetHierarchy(t, "flow-full", labels("env=test"))
	eventuallyConditions(t, "flow-full", "Ready=Ready")

	// 3.3d: nothing comes from beyond a halted namespace, and what came goes with the parent.
	mustSetHierarchy(t, "flow-full", parent(""))
	eventuallyHas(t, "flow-full", "team!", "example.com/tier!", "@note!", "env=test")
}

// Spec/hnc.md 3.1, step 8, and what comes with the create itself.
func TestASubnamespaceHasItsMetadataWhenItsCreationReturns(t *testing.T) {
	namespace(t, "born")
	mustSetHierarchy(t, "born", labels("team=red"))
	eventuallyHas(t, "born", "team=red")
	err := subnamespace(t, "born", "born-sub", v1beta1.SubnamespaceSpec{
		Labels: pairs("env=test"), Annotations: pairs("note=sub"), NamespaceLabels: pairs("example.com/only=here"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := has(t, "born-sub", "team=red", "env=test", "@note=sub", "example.com/only=here"); err != nil {
		t.Errorf("3.1 step 8: %v", err)
	}
	h, err := alice.HNC.HncV1alpha2().HierarchyConfigurations("born-sub").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil || fmt.Sprint(h.Spec.Labels) != "[{env test}]" || fmt.Sprint(h.Spec.Annotations) != "[{note sub}]" {
		t.Errorf("3.1 step 8: the hierarchy says %v, %v", h.Spec, err)
	}

	// A grandchild inherits all but what is for one namespace only.
	if err := subnamespace(t, "born-sub", "born-sub-sub", v1beta1.SubnamespaceSpec{}); err != nil {
		t.Fatal(err)
	}
	if err := has(t, "born-sub-sub", "team=red", "env=test", "@note=sub", "example.com/only!"); err != nil {
		t.Errorf("one namespace only: %v", err)
	}

	// Changes of the Subnamespace follow; those of its namespace's hierarchy are undone.
	patch := `{"spec":{"labels":[{"key":"env","value":"prod"}],"annotations":null,"namespaceLabels":[{"key":"example.com/only","value":"there"}]}}`
	if _, err := alice.HNC.HncV1beta1().Subnamespaces("born").Patch(t.Context(), "born-sub", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyHas(t, "born-sub", "env=prod", "@note!", "example.com/only=there")
	eventuallyHas(t, "born-sub-sub", "env=prod", "@note!")
	mustSetHierarchy(t, "born-sub", labels("env=mine"))
	suite.Eventually(t, "the hierarchy says what the Subnamespace says", func() error {
		h, err := alice.HNC.HncV1beta1().Hierarchies("born-sub").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err == nil && fmt.Sprint(h.Spec.Labels) != "[{env prod}]" {
			err = fmt.Errorf("labels %v", h.Spec.Labels)
		}
		return err
	})
	if err := has(t, "born-sub", "env=prod"); err != nil {
		t.Error(err)
	}
}

// Spec/hnc.md 2.5.1: duplicate keys are allowed, the last one wins.
func TestMeta5TheLastOfAKeyCounts(t *testing.T) {
	namespace(t, "dup")
	anchor := &v1alpha2.SubnamespaceAnchor{ObjectMeta: metav1.ObjectMeta{Name: "dup-sub"}}
	anchor.Spec.Labels = []v1alpha2.MetaKVP{{Key: "team", Value: "first"}, {Key: "team", Value: "last"}}
	if _, err := alice.HNC.HncV1alpha2().SubnamespaceAnchors("dup").Create(t.Context(), anchor, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyHas(t, "dup-sub", "team=last")
	anchor, err := alice.HNC.HncV1alpha2().SubnamespaceAnchors("dup").Get(t.Context(), "dup-sub", metav1.GetOptions{})
	if err != nil || anchor.Status.Status != v1alpha2.SubnamespaceOk {
		t.Errorf("2.5.1: %v, %v", anchor.Status, err)
	}
}

// Spec/hnc.md 2.5.1, as alice, in both versions.
func TestUnmanagedMetadataIsRefused(t *testing.T) {
	namespace(t, "bad")
	for rule, test := range map[string]struct {
		spec  v1beta1.SubnamespaceSpec
		parts []string
	}{
		"META-2 BAD-8 an unmanaged label":      {v1beta1.SubnamespaceSpec{Labels: pairs("stage=x")}, []string{`spec.labels: Invalid value: "stage": not a managed label`}},
		"META-2 BAD-8 an unmanaged annotation": {v1beta1.SubnamespaceSpec{Annotations: pairs("team=x")}, []string{`spec.annotations: Invalid value: "team": not a managed annotation`}},
		"META-2 alternatives are grouped":      {v1beta1.SubnamespaceSpec{Labels: pairs("teams=x")}, []string{`spec.labels: Invalid value: "teams"`}},
		"META-1 no key":                        {v1beta1.SubnamespaceSpec{Labels: pairs("-=x")}, []string{`spec.labels: Invalid value: "-"`}},
		"META-3 BAD-9 a value that is none":    {v1beta1.SubnamespaceSpec{Labels: pairs("team=a b")}, []string{`spec.labels[team]: Invalid value: "a b"`}},
		"META-2 a tree label":                  {v1beta1.SubnamespaceSpec{Labels: pairs("acme.tree.hnc.x-k8s.io/depth=1")}, []string{"not a managed label"}},
		"META-2 for one namespace only":        {v1beta1.SubnamespaceSpec{NamespaceLabels: pairs("stage=x")}, []string{`spec.namespaceLabels: Invalid value: "stage"`}},
		"H3 A2 all at once":                    {v1beta1.SubnamespaceSpec{Labels: pairs("stage=x", "team=a b")}, []string{"spec.labels: ", "spec.labels[team]: "}},
	} {
		t.Run(rule, func(t *testing.T) {
			refused(t, "A2", subnamespace(t, "bad", "bad-sub", test.spec), apierrors.IsInvalid, test.parts...)
			refused(t, "H3", setHierarchy(t, alice, "bad", func(s *v1beta1.HierarchySpec) {
				s.Labels, s.Annotations, s.NamespaceLabels = test.spec.Labels, test.spec.Annotations, test.spec.NamespaceLabels
			}), apierrors.IsInvalid, test.parts...)
			anchor := &v1alpha2.SubnamespaceAnchor{ObjectMeta: metav1.ObjectMeta{Name: "bad-sub"}}
			for _, p := range test.spec.Labels {
				anchor.Spec.Labels = append(anchor.Spec.Labels, v1alpha2.MetaKVP(p))
			}
			if anchor.Spec.Labels != nil {
				_, err := alice.HNC.HncV1alpha2().SubnamespaceAnchors("bad").Create(t.Context(), anchor, metav1.CreateOptions{})
				refused(t, "v1alpha2", err, apierrors.IsInvalid, test.parts...)
			}
		})
	}
}

// Metadata that is no longer managed: reported, and never an obstacle.
func TestCase7WhatIsNoLongerManaged(t *testing.T) {
	namespace(t, "once")
	mustSetHierarchy(t, "once", func(s *v1beta1.HierarchySpec) {
		s.Labels, s.Annotations = pairs("env=test", "team=a"), pairs("retired=x")
	})
	if err := subnamespace(t, "once", "once-sub", v1beta1.SubnamespaceSpec{Annotations: pairs("retired=x")}); err != nil {
		t.Fatal(err)
	}
	eventuallyHas(t, "once", "env=test", "@retired=x")
	fewer := &v1beta1.Rules{ManagedNamespaceLabels: []string{"team"}, ManagedNamespaceAnnotations: []string{"note"}, ExcludedNamespaceSelector: off}
	if err := suite.SetRules(t.Context(), root.HNC, fewer); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := suite.SetRules(context.WithoutCancel(t.Context()), root.HNC, rules); err != nil {
			t.Error(err)
		}
	})
	// C-IllegalManagedLabel and C-IllegalManagedAnnotation: v1beta1 reports both.
	eventuallyConditions(t, "once", "BadConfiguration=IllegalManagedAnnotation BadConfiguration=IllegalManagedLabel Ready=IllegalManagedLabel",
		"label env", "spec.rules.managedNamespaceLabels", "annotation retired", "spec.rules.managedNamespaceAnnotations")
	eventuallyConditions(t, "once-sub", "BadConfiguration=IllegalManagedAnnotation Ready=IllegalManagedAnnotation", "annotation retired")
	// v1alpha2 reports the one that HNC would: the last set one. A write of the object takes none of the others.
	client := alice.HNC.HncV1alpha2().HierarchyConfigurations("once")
	h, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := h.Status.Conditions; len(c) != 1 || c[0].Type != hnc.ConditionBadConfiguration || c[0].Reason != hnc.ReasonIllegalManagedAnnotation {
		t.Errorf("3.4: v1alpha2 reports %v", c)
	}
	// Nor does one of the status, by a client that has seen no more.
	if err := retry.RetryOnConflict(suite.Backoff, func() error {
		if h, err = client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); err != nil {
			return err
		}
		_, err := root.HNC.HncV1alpha2().HierarchyConfigurations("once").UpdateStatus(t.Context(), h, metav1.UpdateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := retry.RetryOnConflict(suite.Backoff, func() error {
		if h, err = client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); err != nil {
			return err
		}
		h.Annotations = map[string]string{"touched": "true"}
		h.Status = v1alpha2.HierarchyConfigurationStatus{}
		_, err := client.Update(t.Context(), h, metav1.UpdateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got, _, err := conditions(t, "once"); err != nil || got != "BadConfiguration=IllegalManagedAnnotation BadConfiguration=IllegalManagedLabel Ready=IllegalManagedLabel" {
		t.Errorf("3.4: after a write of v1alpha2: %q, %v", got, err)
	}
	// Deleting always works.
	if err := alice.HNC.HncV1beta1().Subnamespaces("once").Delete(t.Context(), "once-sub", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := alice.HNC.HncV1beta1().Hierarchies("once").Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// What one object sets has to leave room for the labels of ancestors, and must not occupy the server.
func TestOneObjectSetsALimitedNumberOfLabels(t *testing.T) {
	namespace(t, "crowded")
	many := make([]string, 4000)
	for i := range many {
		many[i] = fmt.Sprintf("not managed %d=x", i)
	}
	refused(t, "a hierarchy", setHierarchy(t, alice, "crowded", labels(many...)), apierrors.IsInvalid, "spec.labels: Too many: 4000: must have at most 256 items")
	refused(t, "a Subnamespace", subnamespace(t, "crowded", "crowded-sub", v1beta1.SubnamespaceSpec{NamespaceLabels: pairs(many...)}), apierrors.IsInvalid,
		"spec.namespaceLabels: Too many: 4000")
}
