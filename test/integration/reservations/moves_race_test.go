package reservations

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A namespace with use is moved into the subtree of a quota and out of it while writers use up the limit. The servers
// share an etcd, so its history shows which of both came first: at no revision is the use of the subtree above the
// limit.
func TestMovesAndWritersDoNotExceedTheLimit(t *testing.T) {
	const hard, moved, writers, attempts = 30, 8, 4, 12
	outside, _ := subtree(t, "moving-out-", 0, 1000)
	inside, namespaces := subtree(t, "moving-in-", writers, hard)
	name := "moving-namespace"
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := move(t, admin, name, outside, nil); err != nil {
		t.Fatal(err)
	}
	for i := range moved {
		suite.Eventually(t, "a secret in the namespace that moves", func() error { return createSecret(t, name, fmt.Sprintf("s-%d", i)) })
	}
	countAgain(t, name, moved)
	start := replay{limit: hard, inside: inside, moving: name, secrets: map[string]int{name: moved}, parent: outside}
	client := etcdClient(t)
	now, err := client.Get(t.Context(), "/registry", clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the first move", func() error { return move(t, admin, name, inside, nil) })
	// The writers begin after the first move: they could use up the limit before it.
	var group sync.WaitGroup
	for w, namespace := range namespaces {
		group.Go(func() {
			for i := range attempts {
				_ = createSecret(t, namespace, fmt.Sprintf("s-%d-%d", w, i)) // or the limit is reached
			}
		})
	}
	written := make(chan struct{})
	go func() { group.Wait(); close(written) }()
	for to, left, over := outside, false, false; !over || !left; {
		if err := move(t, admin, name, to, nil); err == nil {
			to, left = map[string]string{inside: outside, outside: inside}[to], true
		}
		select {
		case <-written:
			over = true
		default:
		}
	}
	start.run(t, client, now.Header.Revision)
}

// countAgain has the Secrets in a namespace counted by kube-controller-manager with all of them in its cache: a count
// by a cache that lags misses some, and lasts until the next one.
func countAgain(t *testing.T, namespace string, n int64) {
	t.Helper()
	var asked time.Time
	ask := func() {
		if err := createSecret(t, namespace, "deleted"); err != nil {
			t.Fatal(err)
		}
		if err := admin.CoreV1().Secrets(namespace).Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		asked = time.Now()
	}
	suite.Eventually(t, fmt.Sprintf("%d secrets of %s are counted", n, namespace), func() error {
		// A count that began before its cache had all of them is the last one, unless it is asked for again.
		if time.Since(asked) > 10*time.Second {
			ask()
		}
		rq, err := admin.CoreV1().ResourceQuotas(namespace).Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if used := rq.Status.Used.Name(corev1.ResourceSecrets, resource.DecimalSI); used.Value() != n {
			return fmt.Errorf("%s are", used)
		}
		return nil
	})
}

// replay follows the Secrets below a namespace, and the parent of a namespace that moves.
type replay struct {
	limit          int
	inside, moving string
	secrets        map[string]int
	parent         string
	moves, highest int
}

// run replays what was committed after a revision.
func (r *replay) run(t *testing.T, client *clientv3.Client, revision int64) {
	t.Helper()
	// A last write shows that the watch has delivered everything.
	end, err := client.Put(t.Context(), "/registry/hns-test-end", "")
	if err != nil {
		t.Fatal(err)
	}
	for response := range client.Watch(t.Context(), "/registry/", clientv3.WithPrefix(), clientv3.WithRev(revision+1)) {
		if err := response.Err(); err != nil {
			t.Fatal(err)
		}
		for _, event := range response.Events {
			if event.Kv.ModRevision == end.Header.Revision {
				t.Logf("%d moves; at most %d secrets of %d", r.moves, r.highest, r.limit)
				if r.moves < 2 {
					t.Errorf("the namespace was moved %d times only", r.moves)
				}
				return
			}
			r.apply(t, event)
		}
	}
}

func (r *replay) apply(t *testing.T, event *clientv3.Event) {
	t.Helper()
	key := string(event.Kv.Key)
	if secret, ok := strings.CutPrefix(key, "/registry/secrets/"); ok && event.IsCreate() {
		namespace, _, _ := strings.Cut(secret, "/")
		r.secrets[namespace]++
	} else if strings.HasSuffix(key, "/edges/"+r.moving) {
		var edge struct{ Parent string }
		if err := json.Unmarshal(event.Kv.Value, &edge); err != nil {
			t.Fatal(err)
		}
		if edge.Parent != r.parent {
			r.parent, r.moves = edge.Parent, r.moves+1
		}
	}
	sum := 0
	for namespace, n := range r.secrets {
		if strings.HasPrefix(namespace, "moving-in-") || namespace == r.moving && r.parent == r.inside {
			sum += n
		}
	}
	if r.highest = max(r.highest, sum); sum > r.limit {
		t.Errorf("%d secrets below %s at revision %d, the limit is %d", sum, r.inside, event.Kv.ModRevision, r.limit)
	}
}
