package pacing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func quota(bytes int) *v1beta1.HierarchicalResourceQuota {
	return &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "2", Annotations: map[string]string{"a": strings.Repeat("x", bytes)}}}
}

// An editor may have thousands of large quotas, all of whose statuses follow each new sub-namespace.
func TestStatusesOfLargeObjectsAreWrittenAtABoundedRate(t *testing.T) {
	p, now := NewPace(), time.Unix(1000, 0)
	if delay := p.Written(now, "root", "1", quota(100<<10)); delay != 0 {
		t.Errorf("a large status is delayed by %s", delay)
	}
	var delay time.Duration
	for i := range 200 {
		delay = p.Written(now, fmt.Sprint("root-", i%10), "1", quota(512<<10))
	}
	if got := delay.Seconds(); got < 75 || got > 90 {
		t.Errorf("after 100 MiB, a large status is delayed by %.0f s, want the 84 s that 84 MiB take", got)
	}
	if delay := p.Written(now, "root", "1", quota(4<<10)); delay != 0 {
		t.Errorf("a small status is delayed by %s", delay)
	}
	if delay := p.Written(now.Add(2*time.Minute), "root", "1", quota(100<<10)); delay != 0 {
		t.Errorf("two minutes later, a large status is delayed by %s", delay)
	}
}

func TestATreeDelaysItsOwnLargeObjectsForABoundedTime(t *testing.T) {
	p, now := NewPace(), time.Unix(1000, 0)
	var delay time.Duration
	for range 1000 {
		delay = p.Written(now, "greedy", "1", quota(512<<10))
	}
	if delay < time.Minute || delay > 2*time.Minute {
		t.Errorf("after 500 MiB, large objects of the tree are delayed by %s, want two minutes", delay)
	}
	if delay := p.Written(now, "other", "1", quota(512<<10)); delay > time.Second {
		t.Errorf("half a MiB of another tree is delayed by %s", delay)
	}
	if delay := p.Written(now.Add(2*time.Minute), "greedy", "1", quota(9<<10)); delay > time.Second {
		t.Errorf("two minutes later, they are still delayed by %s", delay)
	}
}

// The server does not store an object again that a patch does not change.
func TestWhatIsNotStoredAgainIsNotCounted(t *testing.T) {
	p, now := NewPace(), time.Unix(1000, 0)
	for range 1000 {
		if delay := p.Written(now, "root", "2", quota(512<<10)); delay != 0 {
			t.Fatalf("an object that stays the same is delayed by %s", delay)
		}
	}
	if delay := p.Written(now, "root", "1", quota(512<<10)); delay != 0 {
		t.Errorf("the first write is delayed by %s", delay)
	}
}
