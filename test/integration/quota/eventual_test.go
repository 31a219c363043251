package quota

import (
	"fmt"
	"sync"
	"testing"
)

func TestEventualEnforcementFollowsTheUse(t *testing.T) {
	restart(t, "--hrq-enforcement=Eventual")
	t.Cleanup(func() { restart(t) })
	tree(t, "eventual-", "root")
	const namespaces, writers, most = 8, 8, 40
	limit(t, "eventual-root", "q", fmt.Sprintf("secrets=%d", most))
	for i := range namespaces {
		tree(t, "eventual-", fmt.Sprintf("%d<root", i))
	}
	for i := range namespaces {
		wantHard(t, fmt.Sprintf("eventual-%d", i), fmt.Sprintf("secrets=%d", most))
	}
	var created [writers]int
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range 2 * most {
				if createSecret(t, fmt.Sprintf("eventual-%d", w), fmt.Sprintf("s%d", i)) == nil {
					created[w]++
				}
			}
		})
	}
	writing.Wait()
	total := 0
	for _, n := range created {
		total += n
	}
	t.Logf("%d secrets with a limit of %d: %v", total, most, created)
	if total < most || total > most*namespaces {
		t.Errorf("%d secrets with a limit of %d", total, most)
	}
	conditions := "Ready=Eventual Exceeded=WithinLimit"
	if total > most {
		conditions = "Ready=Eventual Exceeded=OverLimit"
	}
	wantStatus(t, "eventual-root", "q", fmt.Sprintf("secrets=%d", total), conditions)
	// Nothing more is admitted anywhere. kube-apiserver may have admitted one too many while a limit changed.
	for w := range writers {
		wantHard(t, fmt.Sprintf("eventual-%d", w), fmt.Sprintf("secrets=%d", min(created[w], most)))
	}
	wantHard(t, "eventual-root", "secrets=0")
}
