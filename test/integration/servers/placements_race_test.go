package servers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/history"
)

// Requests for several namespaces, and moves of single ones, of the same trees through three servers. No revision of etcd holds a cycle.
func TestRacingPlacementsCommitNoCycle(t *testing.T) {
	const workers, requests, size = 2, 20, 4
	namespaces := make([]string, 8)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("racing-%d", i)
	}
	createNamespaces(t, namespaces...)
	recording := history.Record(t, etcdClient(t), path.Join(controlplane.EtcdPrefix, hnc.GroupName))
	var wg sync.WaitGroup
	for worker := range workers * len(replicas) {
		client := admin.at(t, worker%len(replicas))
		wg.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(worker)))
			parent := func() string {
				if random.IntN(4) == 0 {
					return ""
				}
				return namespaces[random.IntN(len(namespaces))]
			}
			for range requests {
				var pairs []string
				for _, i := range random.Perm(len(namespaces))[:size] {
					pairs = append(pairs, namespaces[i], parent())
				}
				if _, err := client.moveAll(t, metav1.CreateOptions{}, under(pairs...)...); err != nil && !illegal(err) {
					t.Errorf("%v: %v", pairs, err)
				}
				if verb, err := client.moveSomehow(t, random, namespaces[random.IntN(len(namespaces))], parent()); err != nil {
					t.Errorf("%s: %v", verb, err)
				}
			}
		})
	}
	wg.Wait()
	committed, cyclic := recording.Finish(t.Context())
	t.Logf("%d moves committed", committed)
	if committed < 100 {
		t.Errorf("only %d moves were committed: the test shows nothing", committed)
	}
	for _, cycle := range cyclic {
		t.Error(cycle)
	}
}

// A server is killed between two transactions of a request. What it has committed is legal, and the same request at another server continues.
func TestPlacementsContinueAfterACrash(t *testing.T) {
	const n, tries = 400, 10
	namespaces, pairs := make([]string, n), make([]string, 0, 2*n)
	for i := range namespaces {
		namespaces[i] = "crashed-" + strconv.Itoa(i)
		if i > 0 {
			pairs = append(pairs, namespaces[i], namespaces[(i-1)/3])
		}
	}
	createNamespaces(t, namespaces...)
	etcd := etcdClient(t)
	recording := history.Record(t, etcd, path.Join(controlplane.EtcdPrefix, hnc.GroupName))
	audit := filepath.Join(t.TempDir(), "audit.log")
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, omitStages: [RequestReceived]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	doomed := controlplane.Server{Name: "hnc-apiserver", Replica: 7, SharedEtcd: true, Args: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + audit}}
	t.Cleanup(func() { _ = cp.StopProcess(t.Context(), doomed.Process()) })
	for try := range tries {
		port, err := cp.StartServer(t.Context(), installation, doomed)
		if err != nil {
			t.Fatal(err)
		}
		if try == 0 {
			checkAudit(t, audit, port)
		}
		client, err := admin.direct(&replica{host: "https://127.0.0.1:" + strconv.Itoa(port)})
		if err != nil {
			t.Fatal(err)
		}
		edges := path.Join(controlplane.EtcdPrefix, hnc.GroupName, "hierarchies") + "/"
		first := etcd.Watch(t.Context(), edges+"crashed-", clientv3.WithPrefix())
		ended := make(chan error, 1)
		go func() {
			_, err := client.moveAll(t, metav1.CreateOptions{}, under(pairs...)...)
			ended <- err
		}()
		<-first
		if err := cp.Kill(t.Context(), doomed.Process()); err != nil {
			t.Fatal(err)
		}
		interrupted := <-ended
		again, err := admin.at(t, 0).moveAll(t, metav1.CreateOptions{}, under(pairs...)...)
		if err != nil {
			t.Fatal(err)
		}
		checkParents(t, pairs...)
		if s := again.Status; interrupted != nil && s.Moved > 0 && s.Unchanged > 0 && s.Moved+s.Unchanged == n-1 {
			t.Logf("%d were committed before the crash, in try %d", s.Unchanged, try)
			break
		}
		if try == tries-1 {
			t.Fatalf("the server was never killed between two transactions; last: %v, %+v", interrupted, again.Status.Moved)
		}
		// The crash came too late. Everything back.
		roots := make([]string, 0, len(pairs))
		for i := 0; i < len(pairs); i += 2 {
			roots = append(roots, pairs[i], "")
		}
		if _, err := admin.at(t, 0).moveAll(t, metav1.CreateOptions{}, under(roots...)...); err != nil {
			t.Fatal(err)
		}
	}
	if _, cyclic := recording.Finish(t.Context()); len(cyclic) > 0 {
		t.Error(cyclic)
	}
}

// checkAudit checks the audit events of a request: its own, and one for each hierarchy.
func checkAudit(t *testing.T, log string, port int) {
	t.Helper()
	createNamespaces(t, "audited-a", "audited-b")
	client, err := admin.direct(&replica{host: "https://127.0.0.1:" + strconv.Itoa(port)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.moveAll(t, metav1.CreateOptions{}, under("audited-b", "audited-a")...); err != nil {
		t.Fatal(err)
	}
	type event struct {
		AuditID   types.UID `json:"auditID"`
		Verb      string    `json:"verb"`
		ObjectRef struct {
			Resource  string `json:"resource"`
			Namespace string `json:"namespace"`
		} `json:"objectRef"`
		ResponseStatus struct{ Code int32 }
		Annotations    map[string]string
	}
	eventually(t, "both events are logged", func() error {
		file, err := os.Open(log)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		found := map[string]event{}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var e event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				return err
			}
			if e.Verb == "create" {
				found[e.ObjectRef.Resource] = e
			}
		}
		whole, one := found["treeplacements"], found["hierarchies"]
		if whole.AuditID == "" || one.AuditID != whole.AuditID || one.ObjectRef.Namespace != "audited-b" || one.ResponseStatus.Code != 201 {
			return fmt.Errorf("got %+v", found)
		}
		if got := whole.Annotations["treeplacements.hnc.x-k8s.io/moved"]; got != "1 of 1 namespaces in 1 transactions" {
			return fmt.Errorf("the annotation is %q", got)
		}
		return nil
	})
}
