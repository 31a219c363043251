package permissions

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// cycles returns how many synchronizations hns-sync has made.
func cycles(ctx context.Context) (int, error) {
	samples, err := cp.Metrics(ctx, "hns-sync")
	if err != nil {
		return 0, err
	}
	n, found := samples[`hns_sync_duration_seconds_count{sync="policy"}`]
	if !found {
		return 0, errors.New("no synchronization")
	}
	return int(n), nil
}

// syncRequests returns the requests of hns-sync, and of the accounts that it acts as, except for those of its lease and
// its watches.
func syncRequests(t *testing.T) []string {
	t.Helper()
	log, err := os.ReadFile(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			// The last line is being written.
			continue
		}
		lease := event.ObjectRef != nil && event.ObjectRef.Resource == "leases"
		if event.User.Username == "system:serviceaccount:hns-system:hns-sync" && !lease && event.Verb != "watch" {
			all = append(all, event.Verb+" "+event.RequestURI)
		}
	}
	return all
}

// A synchronization without changes reads its Secret, if it has one, and sends nothing else to kube-apiserver.
func TestIdleSynchronizationsRequestNothingButTheirSecret(t *testing.T) {
	synchronize(t)
	waitForCycles := func(more int) {
		t.Helper()
		first := -1
		eventually(t, "synchronizations", func(ctx context.Context) error {
			n, err := cycles(ctx)
			if first < 0 && err == nil {
				first = n
			}
			if err == nil && n < first+more {
				err = fmt.Errorf("%d, want %d", n, first+more)
			}
			return err
		})
	}
	// The status and events of the first synchronization.
	waitForCycles(3)
	before := syncRequests(t)
	waitForCycles(4)
	for _, request := range syncRequests(t)[len(before):] {
		if request != "get /api/v1/namespaces/"+accounts+"/secrets/git" {
			t.Errorf("synchronizations without changes have sent %s", request)
		}
	}
}
