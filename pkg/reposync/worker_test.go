package reposync

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

// TestChangesWithoutATraceAreLookedAtMoreAndMoreSeldom changes the cluster all the time, in ways that need a correction
// once.
func TestChangesWithoutATraceAreLookedAtMoreAndMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Spec: v1alpha3.RepositorySyncSpec{
			Source: v1alpha3.RepositorySource{URL: "file:///none"}, Interval: &hnc.Duration{Duration: time.Hour},
		}}
		m := &Manager{now: time.Now, Config: Config{
			Client: &rest.Config{Host: "http://127.0.0.1:1"}, Hierarchy: fake.NewClientset(s), Events: record.NewFakeRecorder(100), Metrics: NewMetrics(func(...metrics.Registerable) {}),
		}}
		w, err := newWorker(m, s)
		if err != nil {
			t.Fatal(err)
		}
		const corrected, last = 9, 12
		var waits []time.Duration
		began := time.Now()
		// A step asks for the time when it begins.
		m.now = func() time.Time {
			if now := time.Now(); now.After(began) || len(waits) == 0 {
				waits, began = append(waits, now.Sub(began)), now
				if len(waits) == corrected {
					w.corrections++
				}
				if len(waits) == last {
					cancel()
				}
				w.notify()
			}
			return began
		}
		w.run(ctx)
		want := []time.Duration{0, 100, 200, 400, 800, 1600, 3200, 6400, 10000, 100, 200, 400}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if !slices.Equal(waits, want) {
			t.Errorf("got the steps after %s, want %s", waits, want)
		}
	})
}
