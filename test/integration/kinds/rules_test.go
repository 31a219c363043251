package kinds

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/inforce"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Each server reports its flags in the status of the configuration; who writes the status can't speak for the API server.
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
		if err := cp.Kill(ctx, "hnc-propagator"); err != nil {
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
	const differ = `excludedNamespaceSelector is empty for hnc-apiserver and "a=b" for hnc-propagator`
	suite.EventuallyEqual(t, "rules", differ+" "+same, reported)
	suite.EventuallyEqual(t, "condition", hnc.ReasonRulesDiffer+": "+differ+"; start both servers with the same flags", func() string {
		reason, message := condition(t, hnc.ConditionBadConfiguration)
		return reason + ": " + message
	})
	// A rule that is taken back is taken out of the report.
	restart()
	suite.EventuallyEqual(t, "rules", same, reported)
	suite.EventuallyEqual(t, "condition", "", func() string { reason, _ := condition(t, hnc.ConditionBadConfiguration); return reason })
}
