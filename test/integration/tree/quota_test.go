package tree

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// An etcd whose history has reached its quota refuses writes with an error that says so, and accepts them again by
// itself.
func TestAnEtcdThatReachesItsQuotaIsReportedAndRecovers(t *testing.T) {
	replicas, client := registriesAt(t, startEtcd(t, 32<<20), 1, 0, []string{"a", "b"})
	if err := move(t.Context(), replicas[0], "a", "b"); err != nil {
		t.Fatal(err)
	}
	// Each time it has recovered, until a move is refused before it has.
	var refused error
	for range 200 {
		if _, err := client.Put(t.Context(), "/other", strings.Repeat("x", 1<<20)); !errors.Is(err, rpctypes.ErrNoSpace) {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if refused = move(t.Context(), replicas[0], "a", ""); refused != nil {
			break
		}
		if err := move(t.Context(), replicas[0], "a", "b"); err != nil {
			refused = err
			break
		}
	}
	if !apierrors.IsServiceUnavailable(refused) || !strings.Contains(refused.Error(), "etcd has reached its quota and accepts no writes") {
		t.Fatalf("a move while etcd is full: %v", refused)
	}
	eventually(t, "moves are accepted again", func() error {
		if err := move(t.Context(), replicas[0], "a", ""); err != nil {
			return err
		}
		return move(t.Context(), replicas[0], "a", "b")
	})
}

// An external etcd stays full until an administrator does what docs/operations.md says: compact, defragment, disarm.
func TestAnExternalEtcdThatReachesItsQuotaIsReported(t *testing.T) {
	config := embed.NewConfig()
	config.Dir, config.LogLevel, config.QuotaBackendBytes = t.TempDir(), "error", 16<<20
	address := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.ListenPeerUrls = []url.URL{address}, []url.URL{address}
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	endpoint := "http://" + server.Clients[0].Addr().String()
	replicas, client := registriesAt(t, endpoint, 1, 0, []string{"a", "b"})
	if err := move(t.Context(), replicas[0], "a", "b"); err != nil {
		t.Fatal(err)
	}
	for range 64 {
		if _, err = client.Put(t.Context(), "/other", strings.Repeat("x", 1<<20)); err != nil {
			break
		}
	}
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatalf("etcd is not full: %v", err)
	}
	if err := move(t.Context(), replicas[0], "a", ""); !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "etcd has reached its quota and accepts no writes") {
		t.Errorf("a move while etcd is full: %v", err)
	}
	if _, err := replicas[0].Hierarchy.Get(requestContext(t.Context(), "a"), hnc.Singleton, &metav1.GetOptions{}); err != nil {
		t.Errorf("a read while etcd is full: %v", err)
	}

	now, err := client.Get(t.Context(), "/other", clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(t.Context(), now.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Defragment(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AlarmDisarm(t.Context(), &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a move is accepted again", func() error { return move(t.Context(), replicas[0], "a", "") })
}
