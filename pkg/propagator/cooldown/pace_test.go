package cooldown

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// An editor may have thousands of large quotas, all of whose statuses follow each new sub-namespace.
func TestStatusesOfLargeObjectsAreWrittenAtABoundedRate(t *testing.T) {
	quota := func(bytes int) *v1beta1.HierarchicalResourceQuota {
		return &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": strings.Repeat("x", bytes)}}}
	}
	p, now := NewPace(), time.Unix(1000, 0)
	if delay := p.Written(now, quota(100<<10)); delay != 0 {
		t.Errorf("a large status is delayed by %s", delay)
	}
	var delay time.Duration
	for range 200 {
		delay = p.Written(now, quota(512<<10))
	}
	if got := delay.Seconds(); got < 75 || got > 90 {
		t.Errorf("after 100 MiB, a large status is delayed by %.0f s, want the 84 s that 84 MiB take", got)
	}
	if delay := p.Written(now, quota(4<<10)); delay != 0 {
		t.Errorf("a small status is delayed by %s", delay)
	}
	if delay := p.Written(now.Add(2*time.Minute), quota(100<<10)); delay != 0 {
		t.Errorf("two minutes later, a large status is delayed by %s", delay)
	}
}
