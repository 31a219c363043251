package repo

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

func syncWith(name string, generation int64, condition metav1.Condition) v1alpha3.RepositorySync {
	condition.Type = hnc.ConditionReady
	return v1alpha3.RepositorySync{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: generation},
		Status: v1alpha3.RepositorySyncStatus{
			AppliedCommit: "0123456789abcdef", SeenCommit: "fedcba9876543210", Namespaces: 2, Objects: 7, Conditions: []metav1.Condition{condition},
		},
	}
}

func TestRepoStatus(t *testing.T) {
	good := syncWith("good", 1, metav1.Condition{Status: metav1.ConditionTrue, Reason: hnc.ReasonSynced, ObservedGeneration: 1})
	stale := syncWith("stale", 2, metav1.Condition{Status: metav1.ConditionTrue, Reason: hnc.ReasonSynced, ObservedGeneration: 1})
	bad := syncWith("bad", 1, metav1.Condition{Status: metav1.ConditionFalse, Reason: hnc.ReasonApplyFailed, Message: "2 of 7 writes have failed", ObservedGeneration: 1})
	bad.Status.Failed = 2
	bad.Status.Errors = []v1alpha3.RepositoryError{{Code: "KNV1021", Message: "no kind\x1b[31m", Path: "namespaces/x.yaml:3"}}
	bad.Status.Failures = []v1alpha3.ObjectFailure{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web", Message: "denied"}}
	var items []v1alpha3.RepositorySync
	renewed, leases := time.Now(), http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/apis/coordination.k8s.io/v1/namespaces/hns-system/leases/hns-sync" {
			if w.WriteHeader(leases); leases != http.StatusOK {
				status := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: int32(leases)}
				if leases == http.StatusNotFound {
					status.Reason = metav1.StatusReasonNotFound
				}
				_ = json.NewEncoder(w).Encode(status)
				return
			}
			_ = json.NewEncoder(w).Encode(coordinationv1.Lease{
				TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
				Spec:     coordinationv1.LeaseSpec{HolderIdentity: ptr.To("a"), RenewTime: &metav1.MicroTime{Time: renewed}},
			})
			return
		}
		_ = json.NewEncoder(w).Encode(v1alpha3.RepositorySyncList{
			TypeMeta: metav1.TypeMeta{APIVersion: v1alpha3.SchemeGroupVersion.String(), Kind: "RepositorySyncList"}, Items: items,
		})
	}))
	defer server.Close()
	status := func(args ...string) (string, string, int) {
		return hns(append([]string{"repo", "status", "--kubeconfig", "", "-s", server.URL}, args...)...)
	}
	if _, stderr, code := status(); code != 1 || stderr != "No RepositorySyncs found.\n" {
		t.Errorf("none: got %d %q", code, stderr)
	}
	if stdout, stderr, code := status("-o", "json"); code != 1 || stderr != "No RepositorySyncs found.\n" || !strings.Contains(stdout, "RepositorySyncList") {
		t.Errorf("none, JSON: got %d %q %q", code, stdout, stderr)
	}
	items = []v1alpha3.RepositorySync{good}
	if stdout, stderr, code := status(); code != 0 || stderr != "" || !strings.HasSuffix(stdout, "good   True    Synced   0123456789ab   fedcba987654   2            7         0\n") {
		t.Errorf("synced: got %d %q %q", code, stdout, stderr)
	}
	if _, _, code := status("-o", "json"); code != 0 {
		t.Errorf("synced, JSON: got %d", code)
	}
	// Nobody ages the condition of a RepositorySync.
	renewed = time.Now().Add(-time.Hour)
	for _, args := range [][]string{nil, {"-o", "json"}} {
		if _, stderr, code := status(args...); code != 1 || !strings.Contains(stderr, "lease hns-sync: its holder a has not renewed it for ") {
			t.Errorf("hns-sync is down, %v: got %d %q", args, code, stderr)
		}
	}
	leases = http.StatusNotFound
	if _, stderr, code := status(); code != 1 || !strings.Contains(stderr, "no replica of hns-sync leads: repositories are not applied") {
		t.Errorf("hns-sync is not installed: got %d %q", code, stderr)
	}
	leases = http.StatusForbidden
	if _, stderr, code := status(); code != 0 || !strings.HasPrefix(stderr, "Warning: whether hns-sync runs is not known") {
		t.Errorf("the lease may not be read: got %d %q", code, stderr)
	}
	renewed, leases = time.Now(), http.StatusOK
	items = []v1alpha3.RepositorySync{good, stale}
	if stdout, _, code := status(); code != 1 || !strings.Contains(stdout, "stale   Unknown   Pending") {
		t.Errorf("a spec that is not observed: got %d %q", code, stdout)
	}
	items = []v1alpha3.RepositorySync{bad}
	want := `
bad: 2 of 7 writes have failed
  KNV1021: no kind\x1b[31m (namespaces/x.yaml:3)
  shop Deployment.apps/web: denied
  and 1 more objects
`
	if stdout, _, code := status(); code != 1 || !strings.HasSuffix(stdout, want) {
		t.Errorf("not synced: got %d %q", code, stdout)
	}
	if stdout, _, code := status("-o", "name"); code != 1 || stdout != "repositorysync.hnc.x-k8s.io/bad\n" {
		t.Errorf("names: got %d %q", code, stdout)
	}
}
