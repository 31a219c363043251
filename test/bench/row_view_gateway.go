package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// hnsGateway serves Go's profiles, which collect garbage before its memory is measured; measureViews has many watches.
var hnsGateway = controlplane.Server{Name: hnc.GatewayName, Args: []string{"--profiling", "--max-streams=8000"}}

// gateway is a running hns-gateway.
type gateway struct {
	*bench
	installation *controlplane.Installation
	port         int
}

func (b *bench) startGateway(ctx context.Context) (*gateway, error) {
	if err := controlplane.RequireBinaries(filepath.Join(b.Root, "_output", "bin"), hnsGateway.Name); err != nil {
		return nil, err
	}
	g := &gateway{bench: b}
	var err error
	if g.installation, err = b.cp.Install(ctx, filepath.Join(b.Root, "artifacts/dev-view")); err != nil {
		return nil, err
	}
	if g.port, err = b.cp.StartServer(ctx, g.installation, hnsGateway); err != nil {
		return nil, err
	}
	return g, b.cp.Register(ctx, g.installation, g.port)
}

// stop takes the API away: with one that does not answer, no namespace can be deleted.
func (g *gateway) stop() {
	ctx := context.Background() // that of the run may have ended
	if err := errors.Join(g.admin.dynamic.Resource(apiServices).Delete(ctx, hnc.ViewGroupVersion.Version+"."+hnc.ViewGroupVersion.Group, metav1.DeleteOptions{}),
		g.cp.StopProcess(ctx, hnsGateway.Name)); err != nil {
		g.sayf("stopping hns-gateway: %v", err)
	}
}

// open creates the TenantView of a namespace, and returns when the user of a configuration is served.
func (g *gateway) open(ctx context.Context, namespace string, config *rest.Config) error {
	v := &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Name: hnc.TenantViewSingleton}}
	views := g.admin.hierarchy.HncV1alpha3().TenantViews(namespace)
	if _, err := views.Create(ctx, v, metav1.CreateOptions{}); err != nil {
		return err
	}
	c, err := g.clients("port", namespace, config)
	if err != nil {
		return err
	}
	return until(ctx, g.Timeout, func(ctx context.Context) error {
		v, err := views.Get(ctx, hnc.TenantViewSingleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(v.Status.Conditions, hnc.ConditionReady) {
			return fmt.Errorf("the view of %s is not ready: %v", namespace, v.Status.Conditions)
		}
		_, err = c.kube.CoreV1().ConfigMaps(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}

// clients returns those of a user of a view, behind kube-apiserver or at the gateway's own port.
func (g *gateway) clients(at, namespace string, config *rest.Config) (clients, error) {
	config = rest.CopyConfig(config)
	if at == "port" {
		config.Host = fmt.Sprintf("https://127.0.0.1:%d", g.port)
	}
	config.Host += hnc.ViewPath(namespace)
	return clientsFor(config)
}

// watchedKinds are those that each of many views watches, thrice.
var watchedKinds = []schema.GroupVersionResource{
	{Version: "v1", Resource: "configmaps"}, {Version: "v1", Resource: "secrets"}, {Version: "v1", Resource: "services"}, {Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "serviceaccounts"}, {Version: "v1", Resource: "persistentvolumeclaims"}, {Version: "v1", Resource: "replicationcontrollers"},
	{Version: "v1", Resource: "resourcequotas"}, {Version: "v1", Resource: "limitranges"}, {Version: "v1", Resource: "endpoints"},
	{Group: "apps", Version: "v1", Resource: "deployments"}, {Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"}, {Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "batch", Version: "v1", Resource: "jobs"}, {Group: "batch", Version: "v1", Resource: "cronjobs"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}, {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}, {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
}

// measureViews measures what many views cost that nobody uses, and then with 60 watches each of a user of its own: the
// memory of hns-gateway, the watches of hns-apiserver at kube-apiserver, and the reviews of access.
func measureViews(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	g, err := b.startGateway(ctx)
	if err != nil {
		return err
	}
	defer g.stop()
	n, kinds := g.pick(100, 2), watchedKinds[:g.pick(len(watchedKinds), 2)]
	const thrice = 3
	users := make([]*rest.Config, n)
	for i := range n {
		if err := g.user(ctx, i, users); err != nil {
			return err
		}
	}
	before, err := g.heap(ctx)
	if err != nil {
		return err
	}
	for i, config := range users {
		if err := g.open(ctx, fmt.Sprintf("viewed-by-%d", i), config); err != nil {
			return err
		}
	}
	idle, err := g.heap(ctx)
	if err != nil {
		return err
	}
	upstream, err := g.upstream(ctx, kinds)
	if err != nil {
		return err
	}
	g.sayf("%d views watch %d kinds, %d times each", n, len(kinds), thrice)
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, config := range users {
		c, err := g.clients("port", fmt.Sprintf("viewed-by-%d", i), config)
		if err != nil {
			return err
		}
		for _, kind := range slices.Repeat(kinds, thrice) {
			w, err := c.metadata.Resource(kind).Watch(watching, metav1.ListOptions{})
			if err != nil {
				return fmt.Errorf("%s: %w", kind.Resource, err)
			}
			go func() {
				for range w.ResultChan() {
				}
			}()
		}
	}
	watched, err := g.heap(ctx)
	if err != nil {
		return err
	}
	more, err := g.upstream(ctx, kinds)
	if err != nil {
		return err
	}
	reviews, err := reviewsPerSecond(ctx, g.bench, g.pick(60, 1))
	if err != nil {
		return err
	}
	watches := n * len(kinds) * thrice
	kib := func(from, to float64, of int) series {
		return series{values: []float64{max(to-from, 1) / 1024 / float64(of)}}
	}
	return errors.Join(
		g.report("view-idle-memory", "KiB", n, kib(before, idle, n), valueAtMost(100), "of a view that nobody uses; heap and stacks"),
		g.report("view-watch-memory", "KiB", watches, kib(idle, watched, watches), valueAtMost(50), "of a watch through a view, with its connection"),
		g.report("view-watches-upstream", "watches", watches, series{values: []float64{more - upstream}}, valueAtMost(float64(len(kinds))), "of hns-apiserver at kube-apiserver"),
		g.report("view-watches-reviews", "reviews/s", watches, series{values: []float64{max(reviews, 0.01)}}, none, "of kube-apiserver while nothing changes"),
	)
}

// user creates a namespace, and a user who is admin there.
func (g *gateway) user(ctx context.Context, i int, users []*rest.Config) error {
	name := fmt.Sprintf("viewed-by-%d", i)
	if err := g.createNamespaces(ctx, []string{name}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	if _, err := g.admin.kube.RbacV1().RoleBindings(name).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	var err error
	users[i], err = g.cp.User(name)
	return err
}

// heap returns the bytes in the gateway's heap and stacks after its garbage was collected.
func (g *gateway) heap(ctx context.Context) (float64, error) {
	client, err := rest.HTTPClientFor(g.admin.config)
	if err != nil {
		return 0, err
	}
	collect := func() error {
		profile, err := controlplane.Get(ctx, client, fmt.Sprintf("https://127.0.0.1:%d/debug/pprof/heap?gc=1", g.port))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, profile)
		return errors.Join(err, profile.Close())
	}
	if err := errors.Join(collect(), collect()); err != nil {
		return 0, err
	}
	m, err := g.metered().of(ctx, hnsGateway.Name)
	return m.sum("go_memstats_heap_alloc_bytes", everything) + m.sum("go_memstats_stack_inuse_bytes", everything), err
}

// upstream counts the watches of kinds in all namespaces that kube-apiserver serves.
func (g *gateway) upstream(ctx context.Context, kinds []schema.GroupVersionResource) (float64, error) {
	m, err := g.metered().of(ctx, kubeAPIServer)
	return m.sum("apiserver_longrunning_requests", func(labels string) bool {
		return label(labels, "verb") == "WATCH" && label(labels, "scope") == "cluster" && slices.ContainsFunc(kinds, func(k schema.GroupVersionResource) bool {
			return k.Group == label(labels, "group") && k.Resource == label(labels, "resource")
		})
	}), err
}
