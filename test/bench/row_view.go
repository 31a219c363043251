package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
}

var viewCalls = []viewCall{
	{"get", func(ctx context.Context, s side, _ string) error {
		_, err := s.kube.CoreV1().ConfigMaps(s.root).Get(ctx, "listed-0", metav1.GetOptions{})
		return err
	}},
	{"list", func(ctx context.Context, s side, _ string) error {
		_, err := s.kube.CoreV1().ConfigMaps(s.root).List(ctx, metav1.ListOptions{LabelSelector: "bench=listed"})
		return err
	}},
	{"create", func(ctx context.Context, s side, unique string) error {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: unique}}
		_, err := s.kube.CoreV1().ConfigMaps(s.root).Create(ctx, cm, metav1.CreateOptions{})
		return err
	}},
	{"apply", func(ctx context.Context, s side, unique string) error {
		cm := applycorev1.ConfigMap("applied-"+s.name, s.root).WithData(map[string]string{"value": unique})
		_, err := s.kube.CoreV1().ConfigMaps(s.root).Apply(ctx, cm, metav1.ApplyOptions{FieldManager: "bench", Force: true})
		return err
	}},
	{"subnamespace", func(ctx context.Context, s side, unique string) error {
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

// measureView sends the same requests directly and through views in this process, with relative and with real names.
func measureView(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	if err := b.createNamespaces(ctx, []string{viewRoot}); err != nil {
		return err
	}
	listed := b.pick(500, 5)
	for i := range listed {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("listed-%d", i), Labels: map[string]string{"bench": "listed"}}}
		if _, err := b.kube.CoreV1().ConfigMaps(viewRoot).Create(ctx, cm, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
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
	for _, c := range viewCalls {
		if err := b.measureViewCall(ctx, c, sides); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
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
		for at := range sides {
			ours, raw := milliseconds(took[at]), milliseconds(took[0])
			p50[at].add(percentile(ours, 0.5), percentile(raw, 0.5))
			p99[at].add(percentile(ours, 0.99), percentile(raw, 0.99))
		}
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
	}
	return err
}
