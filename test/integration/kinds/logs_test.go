package kinds

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// mostVerbose is the highest verbosity that shows no contents (SECURITY.md). Both servers of this suite have it.
const mostVerbose = "-v=7"

// Secrets are copied, overwritten, planned and rejected; their contents are in no log, event, status or audit event.
func TestContentsOfSecretsAreInNoLog(t *testing.T) {
	configure(t, "secrets Propagate")
	root, mid, leaf := tree(t, "silent")
	// The copy in mid is rejected, and that in leaf overwrites an object.
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "no-secrets"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("0")}}}
	if _, err := alice.CoreV1().ResourceQuotas(mid).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "the quota is counted", "0", func() string {
		q, err := alice.CoreV1().ResourceQuotas(mid).Get(t.Context(), quota.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		used := q.Status.Used["count/secrets"]
		return used.String()
	})
	const overwritten, first, second = "the-overwritten-content-of-leaf", "the-first-content-of-root", "the-second-content-of-root"
	put(t, secrets, object("Secret", leaf, "token", overwritten))
	put(t, secrets, object("Secret", root, "token", first))
	eventuallyPresent(t, secrets, leaf, "token="+first+"<"+root)
	put(t, secrets, object("Secret", root, "token", second))
	eventuallyPresent(t, secrets, leaf, "token="+second+"<"+root)
	suite.EventuallyEqual(t, "the rejected copy is reported", "true", func() string {
		return boolean(len(events(t, mid, "token", hnc.EventCannotUpdate)) > 0 && len(events(t, root, "token", hnc.EventCannotPropagate)) > 0)
	})

	if err := alice.CoreV1().ResourceQuotas(mid).Delete(t.Context(), quota.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyPresent(t, secrets, mid, "token="+second+"<"+root)

	written := map[string]string{}
	for _, process := range []string{"hnc-propagator", "hnc-apiserver"} {
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
	for _, secret := range []string{overwritten, first, second} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			for where, content := range written {
				if at := strings.Index(content, form); at >= 0 {
					t.Errorf("%s contains %q: ...%s", where, form, content[max(0, at-300):at])
				}
			}
		}
	}
}
