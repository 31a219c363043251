package propagation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/options"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// cluster is the part of the control plane that belongs to one test: what users do, what they see, and the propagator
// that the test runs.
type cluster struct {
	*scope
	users
	view
	process
	flushes int
}

var clusters atomic.Int32

// newCluster returns a cluster without namespaces and without a propagator. The configuration is empty.
func newCluster(t *testing.T) *cluster {
	s := &scope{t: t, prefix: fmt.Sprintf("t%d-", clusters.Add(1))}
	c := &cluster{scope: s, users: users{scope: s}, view: view{scope: s}, process: process{scope: s, transport: newTransport()}}
	t.Cleanup(c.purge)
	return c
}

// newTree returns a cluster with the tree root ← leaf.
func newTree(t *testing.T) *cluster {
	c := newCluster(t)
	c.namespaces("root", "leaf root")
	return c
}

// newTrees returns a cluster with the trees root ← mid ← leaf and other ← below.
func newTrees(t *testing.T) *cluster {
	c := newCluster(t)
	c.namespaces("root", "mid root", "leaf mid", "other", "below other")
	return c
}

// scope gives the namespaces of a test names of their own. Tests use short names.
type scope struct {
	t      *testing.T
	prefix string
	// created are the namespaces that the test has created.
	created []string
	// reconfigured reports that the test has changed the configuration.
	reconfigured bool
}

// full returns the name that a namespace has in the control plane.
func (s *scope) full(name string) string {
	if name == "" || name == "kube-public" {
		return name
	}
	return s.prefix + name
}

// short replaces full names of namespaces in a text by those that the test uses.
func (s *scope) short(text string) string { return strings.ReplaceAll(text, s.prefix, "") }

func (s *scope) eventually(what, want string, f func() string) {
	s.t.Helper()
	suite.EventuallyEqual(s.t, what, want, f)
}

// process runs the propagator.
type process struct {
	*scope
	*transport
	metrics componentmetrics.KubeRegistry
	events  *record.FakeRecorder
	stop    func()
}

const workers = 8

// start runs a propagator until the test ends or stop is called.
func (p *process) start() {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	base := rest.CopyConfig(propagatorConfig)
	base.Wrap(p.wrap)
	config, stopEvents, err := options.ManagerConfig(ctx, base, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.events = record.NewFakeRecorder(10000)
	p.metrics = componentmetrics.NewKubeRegistry()
	config.Events = p.events
	config.Metrics = metrics.New(p.metrics.MustRegister, false)
	config.Workers, config.StatusWindow, config.ConfigurationWindow = workers, time.Millisecond, time.Millisecond
	m := propagator.New(config)
	m.Watch(ctx)
	var running sync.WaitGroup
	running.Go(func() { m.Lead(ctx) })
	p.stop = sync.OnceFunc(func() { cancel(); running.Wait(); stopEvents() })
	p.t.Cleanup(p.stop)
	p.t.Cleanup(func() { p.setHold(nil) })
}

// queued returns how much work waits.
func (p *process) queued() int {
	families, err := p.metrics.Gather()
	if err != nil {
		p.t.Fatal(err)
	}
	n := 0
	for _, family := range families {
		if family.GetName() == "hns_propagation_queue_length" {
			for _, metric := range family.GetMetric() {
				n += int(metric.GetGauge().GetValue())
			}
		}
	}
	return n
}

// written returns the writes since the last call that concern the test's namespaces or the configuration.
func (p *process) written() []string {
	var writes []string
	for _, w := range p.takeWrites() {
		if strings.Contains(w, p.prefix) || strings.HasSuffix(w, "/namespaces") || strings.Contains(w, "/hncconfigurations") {
			writes = append(writes, p.short(w))
		}
	}
	return writes
}

// recorded returns the events with a prefix in order, once there are as many of any kind and the propagator has
// stopped.
func (p *process) recorded(prefix string, n int) []string {
	p.t.Helper()
	p.eventually("there are events", "true", func() string { return fmt.Sprint(len(p.events.Events) >= n) })
	p.stop()
	close(p.events.Events)
	var recorded []string
	for e := range p.events.Events {
		if strings.HasPrefix(e, prefix) {
			recorded = append(recorded, p.short(e))
		}
	}
	slices.Sort(recorded)
	return recorded
}

// purge removes what would be seen by other tests.
func (c *cluster) purge() {
	ctx := context.WithoutCancel(c.t.Context())
	if c.reconfigured {
		if _, err := admin.Dynamic.Resource(resources["hncconfigurations"]).Patch(ctx, hnc.ConfigurationName, mergePatch, []byte(`{"spec":{"resources":null}}`),
			metav1.PatchOptions{}); err != nil {
			c.t.Error(err)
		}
	}
	var purging sync.WaitGroup
	for _, namespace := range c.created {
		purging.Go(func() {
			for _, resource := range []string{"widgets", "secrets", "roles", "hierarchies"} {
				client := admin.Dynamic.Resource(resources[resource]).Namespace(namespace)
				if resource == "hierarchies" {
					_ = client.Delete(ctx, hnc.Singleton, metav1.DeleteOptions{})
				} else if err := client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
					c.t.Error(err)
				}
			}
		})
	}
	purging.Wait()
}

// flush returns when a change that comes after the earlier ones has reached leaf.
func (c *cluster) flush() {
	c.t.Helper()
	c.flushes++
	verb := fmt.Sprint("flush", c.flushes)
	c.role("root", "flush", verb)
	c.eventually("the flush of leaf", "true", func() string {
		return fmt.Sprint(strings.Contains(c.objects("roles", "leaf"), "flush="+verb+"<root"))
	})
}
