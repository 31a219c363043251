package kinds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestWhoMayNotUpdateNamespacesMayNotChangeRules(t *testing.T) {
	configuration(t)
	err := suite.SetRules(t.Context(), operator.HNC, &v1beta1.Rules{ManagedNamespaceLabels: []string{"team"}})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "spec.rules") || !strings.Contains(err.Error(), "update on namespaces") {
		t.Errorf("other rules: error %v", err)
	}
	if err := suite.SetRules(t.Context(), operator.HNC, rules); err != nil {
		t.Errorf("the same rules: %v", err)
	}
}

func TestInvalidRulesAreRejected(t *testing.T) {
	configuration(t)
	for name, row := range map[string]struct {
		rules v1beta1.Rules
		says  []string
	}{
		"several":             {v1beta1.Rules{IncludedNamespaceRegex: "(", ExcludedNamespaceSelector: &metav1.LabelSelector{}}, []string{"spec.rules.includedNamespaceRegex", "spec.rules.excludedNamespaceSelector"}},
		"our own labels":      {v1beta1.Rules{ManagedNamespaceLabels: []string{".*"}}, []string{"spec.rules.managedNamespaceLabels", "reserved"}},
		"no namespace's name": {v1beta1.Rules{ExcludedNamespaces: []string{"A_b"}}, []string{"spec.rules.excludedNamespaces[0]"}},
		"too many":            {v1beta1.Rules{DroppedLabels: make([]string, 101)}, []string{"spec.rules.droppedLabels", "at most 100"}},
		"an empty one":        {v1beta1.Rules{DroppedAnnotations: []string{""}}, []string{"spec.rules.droppedAnnotations[0]"}},
		"too long":            {v1beta1.Rules{ManagedNamespaceAnnotations: []string{strings.Repeat("a", 1025)}}, []string{"spec.rules.managedNamespaceAnnotations[0]", "1024"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := suite.SetRules(t.Context(), admin.HNC, &row.rules)
			if !apierrors.IsInvalid(err) {
				t.Fatalf("error %v", err)
			}
			for _, part := range row.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
		})
	}
}

// Both servers apply other rules without a restart, and the leader stays the same.
func TestRulesInTheConfigurationApplyAtOnce(t *testing.T) {
	root, mid, leaf := tree(t, "rules")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader", Labels: map[string]string{"example.com/other": "x", "example.com/local": "x"}}}
	if _, err := alice.RbacV1().Roles(root).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	copyIn := func(namespace string) string {
		r, err := alice.RbacV1().Roles(namespace).Get(t.Context(), role.Name, metav1.GetOptions{})
		if err != nil {
			return string(apierrors.ReasonForError(err))
		}
		maps.DeleteFunc(r.Labels, func(key, _ string) bool { return !strings.HasPrefix(key, "example.com/") })
		return fmt.Sprint(slices.Sorted(maps.Keys(r.Labels)))
	}
	suite.EventuallyEqual(t, "copy", "[example.com/other]", func() string { return copyIn(leaf) })
	lead := func() string {
		l, err := admin.CoordinationV1().Leases("hns-system").Get(t.Context(), "hns-propagator", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return *l.Spec.HolderIdentity
	}
	leader := lead()
	label := func() string {
		h := `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"labels":[{"key":"team","value":"a"}]}}`
		_, err := alice.HNC.HncV1beta1().Hierarchies(mid).Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(h), metav1.PatchOptions{})
		return string(apierrors.ReasonForError(err))
	}
	if got := label(); got != string(metav1.StatusReasonInvalid) {
		t.Errorf("a label that is not managed: %q", got)
	}

	t.Cleanup(func() {
		if err := suite.SetRules(context.WithoutCancel(t.Context()), admin.HNC, rules); err != nil {
			t.Error(err)
		}
	})
	changed := &v1beta1.Rules{
		ManagedNamespaceLabels: []string{"team"}, DroppedLabels: []string{"example.com/other"},
		ExcludedNamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: leaf}},
	}
	if err := suite.SetRules(t.Context(), admin.HNC, changed); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "a managed label", "", label)
	suite.EventuallyEqual(t, "the namespace's label", "a", func() string {
		ns, err := alice.CoreV1().Namespaces().Get(t.Context(), mid, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return ns.Labels["team"]
	})
	suite.EventuallyEqual(t, "copy", "[example.com/local]", func() string { return copyIn(mid) })
	suite.EventuallyEqual(t, "copy in a namespace with an excluded label", string(metav1.StatusReasonNotFound), func() string { return copyIn(leaf) })
	namespace(t, "rules-new", "")
	_, err := alice.HNC.HncV1beta1().Hierarchies("rules-new").Create(t.Context(),
		&v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: leaf}}, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "excluded from hierarchies by its labels") {
		t.Errorf("an excluded namespace as a parent: %v", err)
	}
	if got := lead(); got != leader {
		t.Errorf("the leader was %s and is %s", leader, got)
	}

	if err := suite.SetRules(t.Context(), admin.HNC, rules); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "copy, once more", "[example.com/other]", func() string { return copyIn(leaf) })
}
