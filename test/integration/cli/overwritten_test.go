package cli

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestRelease(t *testing.T) {
	namespace(t, "let", "")
	propagation(t, "let", v1beta1.ResourceSpec{Resource: "configmaps"})
	subnamespace(t, "let-a", "let")
	bind(t, "let-a", "edit")
	configMap(t, "let", "settings")
	waitForConfigMap(t, "let-a", "settings")
	s := newScript(t, bob)
	s.run("detach", "cm/settings", "-n", "let-a")
	s.as("alice, who may edit let-a", alice)
	s.until("which is the source of the copy", "detach", "cm/settings", "-n", "let-a")
	bind(t, "let", "admin")
	s.as("alice, who is admin of let", alice)
	s.until("is Propagate", "detach", "cm/settings", "-n", "let-a")
	s.until("always propagated", "detach", "rolebinding/alice-admin", "-n", "let-a")
	propagation(t, "let", v1beta1.ResourceSpec{Resource: "configmaps", Mode: v1beta1.Ignore})
	s.until("kubectl hns detach", "why", "cm/settings", "-n", "let-a")
	s.run("detach", "configmap", "settings", "-n", "let-a", "--dry-run=client")
	s.until("detached", "detach", "configmap", "settings", "-n", "let-a", "--dry-run=server")
	s.until("detached", "detach", "configmap", "settings", "-n", "let-a")
	s.until("CopyReleased", "why", "cm/settings", "-n", "let-a")
	s.run("detach", "cm/settings", "-n", "let-a")
	s.run("detach", "cm/never", "-n", "let-a")
}

func TestExplainOverwritten(t *testing.T) {
	namespace(t, "over", "")
	propagation(t, "over", v1beta1.ResourceSpec{Resource: "configmaps"})
	subnamespace(t, "over-a", "over")
	bind(t, "over", "view")
	configMap(t, "over-a", "settings", "example.com/note", "made in over-a")
	configMap(t, "over", "settings")
	s := newScript(t, alice)
	s.until("made in over-a", "why", "cm/settings", "-n", "over-a", "--overwritten")
	s.say("what was never overwritten, and what alice may not read")
	s.run("why", "cm/never", "-n", "over-a", "--overwritten")
	s.run("why", "secret/token", "-n", "over-a", "--overwritten")
	s.as("bob, who has no permissions", bob)
	s.run("why", "cm/settings", "-n", "over-a", "--overwritten")
	// Events, which are explained as well, come at any time.
	const hint = "kubectl hns why configmaps/settings -n over-a --overwritten"
	if r := alice.hns(t, "why", "cm/settings", "-n", "over-a"); !strings.Contains(r.stdout, hint) {
		t.Errorf("nothing leads to what was overwritten:\n%s%s", r.stdout, r.stderr)
	}
}
