package kinds

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// mostVerbose is the highest verbosity that shows no contents (SECURITY.md). Both servers of this suite have it.
const mostVerbose = "-v=7"

// Secrets are copied, overwritten, planned and rejected; their contents are in no log, event, status or audit event,
// and in no answer to a plan or dry run.
func TestContentsOfSecretsAreInNoLog(t *testing.T) {
	configure(t, "secrets Propagate")
	root, mid, leaf := tree(t, "silent")
	// The copy in mid is rejected, and that in leaf overwrites an object.
	allowSecrets := noSecrets(t, mid)
	const overwritten, first, second = "the-overwritten-content-of-leaf", "the-first-content-of-root", "the-second-content-of-root"
	put(t, secrets, object("Secret", leaf, "token", overwritten))
	put(t, secrets, object("Secret", root, "token", first))
	eventuallyPresent(t, secrets, leaf, "token="+first+"<"+root)
	put(t, secrets, object("Secret", root, "token", second))
	eventuallyPresent(t, secrets, leaf, "token="+second+"<"+root)
	suite.EventuallyEqual(t, "the rejected copy is reported", "true", func() string {
		return boolean(len(events(t, mid, "token", hnc.EventCannotUpdate)) > 0 && len(events(t, root, "token", hnc.EventCannotPropagate)) > 0)
	})

	allowSecrets()
	eventuallyPresent(t, secrets, mid, "token="+second+"<"+root)

	const third, removed, added = "the-third-content-of-another-tree", "the-content-that-a-move-removes", "the-content-that-a-move-adds"
	namespace(t, "silent-other", "")
	put(t, secrets, object("Secret", "silent-other", "token", third))
	put(t, secrets, object("Secret", "silent-other", "more", added))
	put(t, secrets, object("Secret", mid, "less", removed))
	eventuallyPresent(t, secrets, leaf, "less="+removed+"<"+mid+" token="+second+"<"+root)
	written := planned(t, leaf, "silent-other", "Remove less Add more Change token")
	for _, process := range []string{"hns-propagator", "hns-apiserver"} {
		content, err := os.ReadFile(cp.Log(process))
		if err != nil {
			t.Fatal(err)
		}
		// Otherwise it is not that verbose.
		if !strings.Contains(string(content), "Request") {
			t.Errorf("the log of %s shows no requests", process)
		}
		written["the log of "+process] = string(content)
	}
	audit, err := os.ReadFile(auditLog)
	if err != nil || !strings.Contains(string(audit), `"overwrittenobjects"`) {
		t.Errorf("the audit log does not show the overwritten object: %v", err)
	}
	if !strings.Contains(string(audit), `"subresource":"plan"`) || !strings.Contains(string(audit), "/hierarchies/hierarchy?dryRun=All") {
		t.Error("the audit log does not show the plan and the dry run")
	}
	written["the audit log"] = string(audit)
	for _, namespace := range []string{root, mid, leaf} {
		list, err := admin.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		hierarchies, err := admin.HNC.HncV1beta1().Hierarchies(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		content, err := json.Marshal([]any{list, hierarchies, configuration(t)})
		if err != nil {
			t.Fatal(err)
		}
		written["events and status in "+namespace] = string(content)
	}
	for _, secret := range []string{overwritten, first, second, third, removed, added} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			for where, content := range written {
				if at := strings.Index(content, form); at >= 0 {
					t.Errorf("%s contains %q: ...%s", where, form, content[max(0, at-300):at])
				}
			}
		}
	}
}

// planned has alice plan a move, and then try it as a dry run, and returns the answers and warnings that she gets. want
// are the planned changes of Secrets.
func planned(t *testing.T, name, parent, want string) map[string]string {
	t.Helper()
	var warnings strings.Builder
	config := rest.CopyConfig(alice.Config)
	config.WarningHandler = rest.NewWarningWriter(&warnings, rest.WarningWriterOptions{})
	warned, err := suite.NewUser("alice", config)
	if err != nil {
		t.Fatal(err)
	}
	client := warned.HNC.HncV1beta1().Hierarchies(name)
	plan := &v1alpha3.HierarchyPlan{Spec: v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: parent}}
	var answer *v1alpha3.HierarchyPlan
	suite.EventuallyEqual(t, "the plan", want, func() string {
		if answer, err = client.Plan(t.Context(), hnc.Singleton, plan, metav1.CreateOptions{}); err != nil {
			return err.Error()
		}
		var changes []string
		for _, n := range answer.Status.Namespaces {
			for _, o := range n.Objects {
				if o.Resource == "secrets" {
					changes = append(changes, string(o.Action), o.Name)
				}
			}
		}
		return strings.Join(changes, " ")
	})
	patch := fmt.Appendf(nil, `{"spec":{"parent":%q}}`, parent)
	tried, err := client.Patch(t.Context(), hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(warnings.String(), "secrets") {
		t.Errorf("the dry run does not warn of Secrets: %q", warnings.String())
	}
	written := map[string]string{"the warnings": warnings.String()}
	for what, object := range map[string]any{"the plan": answer, "the dry run": tried} {
		content, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		written[what] = string(content)
	}
	return written
}
