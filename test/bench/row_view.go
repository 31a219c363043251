package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/loopback"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// viewRoot is the root of the subtree that is viewed.
const viewRoot = "viewed"

// side is a way to the cluster: direct, or through a view, in which the root has another name.
type side struct {
	name, root string
	clients
}

// viewCall is a request that is measured on each side; its name is that of the row.
type viewCall struct {
	name string
	call func(ctx context.Context, s side, unique string) error
	// slow requests are measured less often.
	slow bool
}

var viewCalls = []viewCall{
	{name: "get", call: func(ctx context.Context, s side, _ string) error {
		_, err := s.kube.CoreV1().ConfigMaps(s.root).Get(ctx, "listed-0", metav1.GetOptions{})
		return err
	}},
	{name: "list", call: func(ctx context.Context, s side, _ string) error {
		_, err := s.kube.CoreV1().ConfigMaps(s.root).List(ctx, metav1.ListOptions{LabelSelector: "bench=listed"})
		return err
	}},
	{name: "list-all", call: func(ctx context.Context, s side, _ string) error {
		_, err := s.kube.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: "bench=everywhere"})
		return err
	}},
	{name: "create", call: func(ctx context.Context, s side, unique string) error {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: unique}}
		_, err := s.kube.CoreV1().ConfigMaps(s.root).Create(ctx, cm, metav1.CreateOptions{})
		return err
	}},
	{name: "apply", call: func(ctx context.Context, s side, unique string) error {
		cm := applycorev1.ConfigMap("applied-"+s.name, s.root).WithData(map[string]string{"value": unique})
		_, err := s.kube.CoreV1().ConfigMaps(s.root).Apply(ctx, cm, metav1.ApplyOptions{FieldManager: "bench", Force: true})
		return err
	}},
	{name: "subnamespace", call: func(ctx context.Context, s side, unique string) error {
		if s.name == "direct" {
			sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: unique}}
			_, err := s.hierarchy.HncV1beta1().Subnamespaces(s.root).Create(ctx, sub, metav1.CreateOptions{})
			return err
		}
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: unique}}
		_, err := s.kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
		return err
	}},
}

// measureView sends the same requests directly, through views in this process with relative and with real names, and
// through hns-gateway, behind kube-apiserver and at its own port.
func measureView(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	if err := b.fillView(ctx); err != nil {
		return err
	}
	gateway, err := b.startGateway(ctx)
	if err != nil {
		return err
	}
	defer gateway.stop()
	sides := []side{{"direct", viewRoot, b.clients}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, names := range []mapping.Config{{Root: viewRoot}, {Root: viewRoot, Relative: true, Prefix: viewRoot + "-"}} {
		s, end, err := b.openView(ctx, names)
		if err != nil {
			return fmt.Errorf("opening a view: %w", err)
		}
		defer end()
		sides = append(sides, s)
	}
	if err := gateway.open(ctx, viewRoot, b.config); err != nil {
		return err
	}
	for _, at := range []string{"aggregated", "port"} {
		c, err := gateway.clients(at, viewRoot, b.config)
		if err != nil {
			return err
		}
		sides = append(sides, side{at, metav1.NamespaceDefault, c})
	}
	for _, c := range viewCalls {
		if err := b.measureViewCall(ctx, c, sides); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if err := b.measureViewWatch(ctx, sides); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	if err := b.widenView(ctx); err != nil {
		return fmt.Errorf("1,000 namespaces: %w", err)
	}
	for _, c := range wideCalls {
		if err := b.measureViewCall(ctx, c, sides); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// wideCalls are measured with 1,000 namespaces in the view.
var wideCalls = []viewCall{
	{name: "list-1000", slow: true, call: func(ctx context.Context, s side, _ string) error {
		_, err := s.kube.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: "bench=wide"})
		return err
	}},
	{name: "watchlist-1000", slow: true, call: func(ctx context.Context, s side, _ string) error {
		yes := true
		w, err := s.kube.CoreV1().ConfigMaps(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{
			LabelSelector: "bench=wide", SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		})
		if err != nil {
			return err
		}
		defer w.Stop()
		for event := range w.ResultChan() {
			switch event.Type {
			case watch.Added:
			case watch.Bookmark:
				return nil
			default:
				return fmt.Errorf("got %s %v", event.Type, event.Object)
			}
		}
		return errors.New("the watch has ended before its bookmark")
	}},
}

// widenView gives the viewed namespace 1,000 descendants, with an object each.
func (b *bench) widenView(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range b.pick(950, 2) {
		group.Go(func() error {
			sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-wide-%d", viewRoot, i)}}
			if _, err := b.hierarchy.HncV1beta1().Subnamespaces(viewRoot).Create(ctx, sub, metav1.CreateOptions{}); err != nil {
				return err
			}
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "wide", Labels: map[string]string{"bench": "wide"}}}
			_, err := b.kube.CoreV1().ConfigMaps(sub.Name).Create(ctx, cm, metav1.CreateOptions{})
			return err
		})
	}
	return group.Wait()
}

// fillView creates the namespace that is viewed with 500 objects, and 49 sub-namespaces with as many together.
func (b *bench) fillView(ctx context.Context) error {
	if err := b.createNamespaces(ctx, []string{viewRoot}); err != nil {
		return err
	}
	objects, members := b.pick(500, 5), []string{viewRoot}
	for i := range b.pick(49, 1) {
		sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-member-%d", viewRoot, i)}}
		if _, err := b.hierarchy.HncV1beta1().Subnamespaces(viewRoot).Create(ctx, sub, metav1.CreateOptions{}); err != nil {
			return err
		}
		members = append(members, sub.Name)
	}
	for i := range objects {
		for label, namespace := range map[string]string{"listed": viewRoot, "everywhere": members[i%len(members)]} {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", label, i), Labels: map[string]string{"bench": label}}}
			if _, err := b.kube.CoreV1().ConfigMaps(namespace).Create(ctx, cm, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// openView serves a view until the context is done; end removes its kubeconfig.
func (b *bench) openView(ctx context.Context, names mapping.Config) (s side, end func(), err error) {
	handler, err := loopback.Handler(ctx, ctx, b.config, names)
	if err != nil {
		return side{}, nil, err
	}
	server, err := loopback.Listen(handler)
	if err != nil {
		return side{}, nil, err
	}
	go func() { _ = server.Serve(ctx) }()
	root := mapping.NewNames(names).Out(viewRoot)
	file, err := server.WriteKubeconfig(viewRoot, root)
	if err != nil {
		return side{}, nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return side{}, nil, err
	}
	c, err := clientsFor(config)
	name := "real"
	if names.Relative {
		name = "relative"
	}
	return side{name, root, c}, func() { _ = server.Close() }, err
}

// measureViewCall alternates between the sides, request by request.
func (b *bench) measureViewCall(ctx context.Context, c viewCall, sides []side) error {
	n := b.pick(100, 3)
	if c.slow {
		n = b.pick(10, 1)
	}
	p50, p99 := make([]series, len(sides)), make([]series, len(sides))
	err := b.each(func(round int) error {
		took := make([][]time.Duration, len(sides))
		for i := range n {
			for k := range sides {
				at := (i + k) % len(sides)
				begun := time.Now()
				if err := c.call(ctx, sides[at], fmt.Sprintf("%s-%s-%d-%d", c.name, sides[at].name, round, i)); err != nil {
					return fmt.Errorf("%s: %w", sides[at].name, err)
				}
				took[at] = append(took[at], time.Since(begun))
			}
		}
		addPercentiles(took, p50, p99)
		return nil
	})
	if err != nil {
		return err
	}
	for at, s := range sides[1:] {
		limit := none
		if c.name == "subnamespace" {
			limit = ratioAtMost(1.3)
		}
		name := "view-" + c.name + "-" + s.name
		err = errors.Join(err, b.report(name+"-p50", "ms", n, p50[at+1], limit), b.report(name+"-p99", "ms", n, p99[at+1], none))
		if c.name == "get" {
			more := 2.0
			if s.name == "aggregated" {
				more = 4
			}
			err = errors.Join(err, b.report(name+"-more", "ms", n, p50[at+1].difference(), valueAtMost(more)))
		}
	}
	return err
}

// addPercentiles adds what requests of a round took on each side, against the first.
func addPercentiles(took [][]time.Duration, p50, p99 []series) {
	raw := milliseconds(took[0])
	for at := range took {
		ours := milliseconds(took[at])
		p50[at].add(percentile(ours, 0.5), percentile(raw, 0.5))
		p99[at].add(percentile(ours, 0.99), percentile(raw, 0.99))
	}
}

// measureViewWatch creates objects, one after another, and measures how long it takes from the request until a watch of
// all namespaces has each of them.
func (b *bench) measureViewWatch(ctx context.Context, sides []side) error {
	n := b.pick(100, 3)
	p50, p99 := make([]series, len(sides)), make([]series, len(sides))
	err := b.each(func(round int) error {
		ctx, cancel := context.WithTimeout(ctx, b.Timeout)
		defer cancel()
		events := make([]<-chan watch.Event, len(sides))
		for at, s := range sides {
			w, err := s.kube.CoreV1().ConfigMaps(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{LabelSelector: fmt.Sprintf("bench=watched-%d", round)})
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			defer w.Stop()
			events[at] = w.ResultChan()
		}
		took := make([][]time.Duration, len(sides))
		for i := range n {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("watched-%d-%d", round, i), Labels: map[string]string{"bench": fmt.Sprintf("watched-%d", round)}}}
			var seen errgroup.Group
			begun := time.Now()
			for at := range sides {
				seen.Go(func() error {
					event, ok := <-events[at]
					if !ok || event.Type != watch.Added {
						return fmt.Errorf("%s: got %s %v", sides[at].name, event.Type, event.Object)
					}
					took[at] = append(took[at], time.Since(begun))
					return nil
				})
			}
			if _, err := b.kube.CoreV1().ConfigMaps(viewRoot).Create(ctx, cm, metav1.CreateOptions{}); err != nil {
				return err
			}
			if err := seen.Wait(); err != nil {
				return err
			}
		}
		addPercentiles(took, p50, p99)
		return nil
	})
	for at, s := range sides[1:] {
		name := "view-watch-" + s.name
		err = errors.Join(err, b.report(name+"-p50", "ms", n, p50[at+1], none), b.report(name+"-p99", "ms", n, p99[at+1], none))
	}
	return err
}
