package kinds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/inforce"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Each server reports its flags in the status of the configuration; who writes the status can't speak for the API
// server.
func TestTheStatusReportsTheRulesInForce(t *testing.T) {
	configurations := admin.HNC.HncV1beta1().HNCConfigurations()
	reported := func() string {
		c, err := configurations.Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil || c.Status.InForce.APIServer == nil || c.Status.InForce.Propagator == nil {
			return "not yet"
		}
		p := c.Status.InForce.Propagator
		return strings.Join(append(inforce.Differences(c.Status.InForce), append(p.NoPropagationLabels, p.UnpropagatedLabels...)...), " ")
	}
	ctx := context.WithoutCancel(t.Context())
	restart := func(more ...string) {
		if err := cp.Kill(ctx, "hns-propagator"); err != nil {
			t.Fatal(err)
		}
		if _, err := cp.StartServer(ctx, installation, propagator(more...)); err != nil {
			t.Fatal(err)
		}
	}
	const same = "example.com/stays=here example.com/local"
	suite.EventuallyEqual(t, "rules", same, reported)
	c, err := configurations.Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.Status.InForce.APIServer.UnpropagatedLabels = []string{"false"}
	if c, err = configurations.UpdateStatus(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := c.Status.InForce.APIServer.UnpropagatedLabels; len(got) != 1 || got[0] != "example.com/local" {
		t.Errorf("a writer of the status made the API server report %v", got)
	}

	restart("--excluded-namespace-selector=a=b")
	t.Cleanup(func() {
		if t.Failed() {
			restart()
		}
	})
	const differ = `excludedNamespaceSelector is empty for hns-apiserver and "a=b" for hns-propagator`
	suite.EventuallyEqual(t, "rules", differ+" "+same, reported)
	suite.EventuallyEqual(t, "condition", hnc.ReasonRulesDiffer+": "+differ+"; set spec.rules of the configuration, or start both servers with the same flags", func() string {
		reason, message := condition(t, hnc.ConditionBadConfiguration)
		return reason + ": " + message
	})
	// A rule that is taken back is taken out of the report.
	restart()
	suite.EventuallyEqual(t, "rules", same, reported)
	suite.EventuallyEqual(t, "condition", "", func() string { reason, _ := condition(t, hnc.ConditionBadConfiguration); return reason })
}

// setRules sets spec.rules of the configuration.
func setRules(ctx context.Context, as user, rules *v1beta1.Rules) error {
	client := as.HNC.HncV1beta1().HNCConfigurations()
	return retry.RetryOnConflict(suite.Backoff, func() error {
		c, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c.Spec.Rules = rules
		_, err = client.Update(ctx, c, metav1.UpdateOptions{})
		return err
	})
}

func TestWhoMayNotUpdateNamespacesMayNotChangeRules(t *testing.T) {
	configuration(t)
	err := setRules(t.Context(), operator, &v1beta1.Rules{ManagedNamespaceLabels: []string{"team"}})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "spec.rules") || !strings.Contains(err.Error(), "update on namespaces") {
		t.Errorf("other rules: error %v", err)
	}
	if err := setRules(t.Context(), operator, nil); err != nil {
		t.Errorf("the same rules: %v", err)
	}
}

func TestInvalidRulesAreRejected(t *testing.T) {
	configuration(t)
	for name, row := range map[string]struct {
		rules v1beta1.Rules
		says  []string
	}{
		"several":             {v1beta1.Rules{IncludedNamespaceRegex: "(", ExcludedNamespaceSelector: "a in"}, []string{"spec.rules.includedNamespaceRegex", "spec.rules.excludedNamespaceSelector"}},
		"our own labels":      {v1beta1.Rules{ManagedNamespaceLabels: []string{".*"}}, []string{"spec.rules.managedNamespaceLabels", "reserved"}},
		"no namespace's name": {v1beta1.Rules{ExcludedNamespaces: []string{"A_b"}}, []string{"spec.rules.excludedNamespaces[0]"}},
		"too many":            {v1beta1.Rules{UnpropagatedLabels: make([]string, 101)}, []string{"spec.rules.unpropagatedLabels", "at most 100"}},
		"an empty one":        {v1beta1.Rules{UnpropagatedAnnotations: []string{""}}, []string{"spec.rules.unpropagatedAnnotations[0]"}},
		"too long":            {v1beta1.Rules{ManagedNamespaceAnnotations: []string{strings.Repeat("a", 1025)}}, []string{"spec.rules.managedNamespaceAnnotations[0]", "1024"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := setRules(t.Context(), admin, &row.rules)
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
		if err := setRules(context.WithoutCancel(t.Context()), admin, nil); err != nil {
			t.Error(err)
		}
	})
	changed := &v1beta1.Rules{
		ManagedNamespaceLabels: []string{"team"}, UnpropagatedLabels: []string{"example.com/other"},
		ExcludedNamespaceSelector: "kubernetes.io/metadata.name=" + leaf,
	}
	if err := setRules(t.Context(), admin, changed); err != nil {
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
	suite.EventuallyEqual(t, "report", "[] [--unpropagated-label] [--unpropagated-label]", func() string {
		f := configuration(t).Status.InForce
		return fmt.Sprint(inforce.Differences(f), f.APIServerOverridden, f.PropagatorOverridden)
	})
	if got := lead(); got != leader {
		t.Errorf("the leader was %s and is %s", leader, got)
	}

	if err := setRules(t.Context(), admin, nil); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "copy, once more", "[example.com/other]", func() string { return copyIn(leaf) })
	suite.EventuallyEqual(t, "report", "[] [] []", func() string {
		f := configuration(t).Status.InForce
		return fmt.Sprint(inforce.Differences(f), f.APIServerOverridden, f.PropagatorOverridden)
	})
}
