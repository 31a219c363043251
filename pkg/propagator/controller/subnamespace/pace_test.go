package subnamespace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// delayed are the keys that are enqueued, and when.
type delayed map[queue.Key]time.Duration

func (d delayed) Add(key queue.Key) { d[key] = 0 }

func (d delayed) AddAfter(key queue.Key, delay time.Duration) { d[key] = delay }

// Each change of a namespace's annotations may be reported by all Subnamespaces of its name.
func TestReportsAboutLargeSubnamespacesArePaced(t *testing.T) {
	o := newObjects()
	o.p.DeletionTimestamp, o.c.Labels = nil, nil
	o.subnamespace.Annotations = map[string]string{hnc.AnnotationVoid: "true", "large": strings.Repeat("x", 1<<20)}
	client, enqueued := hncfake.NewSimpleClientset(o.subnamespace), delayed{}
	d := controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: treetest.Rules()}), Hierarchy: client, Urgent: enqueued,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}
	d.Cache.ObserveNamespace(o.p)
	d.Cache.ObserveSubnamespace(o.subnamespace)
	c := New(d, Controllers{Copies: copies.New(d, copies.Config{})}, false)
	key := queue.Key{Class: queue.Subnamespace, Namespace: "p", Name: "c"}
	for c.pace.Written(time.Now(), o.subnamespace) < time.Minute {
	}
	for i := range 2 {
		ns := o.c.DeepCopy()
		ns.ResourceVersion, ns.Annotations = fmt.Sprint(100+i), map[string]string{hnc.AnnotationManagedBy: fmt.Sprint("tool-", i)}
		d.Cache.ObserveNamespace(ns)
		if err := c.Reconcile(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(client.Actions()); n != 1 || enqueued[key] <= 0 {
		t.Errorf("%d reports were written, want one, and the next is due in %s", n, enqueued[key])
	}
}
