package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// bench measures rows.
type bench struct {
	options
	out, progress io.Writer
	machine       string
	// row is the one that is being measured.
	row string
	// cluster is started by the first row that needs one.
	*cluster
	// forest is the big forest, built as far as forestSize says.
	forest     tree
	forestSize int
	// filled is the peak memory of both servers, in MB, once ten copies were in each of its namespaces; nil before.
	filled map[string]float64
	// grown is what was measured of growth, by size.
	grown []growth
	// fanned is the tree that copies are measured in.
	fanned tree
}

// measure measures a row.
func (b *bench) measure(ctx context.Context, r row) error {
	if r.cluster && b.cluster == nil {
		c, err := startCluster(ctx, b.options, b.sayf)
		if err != nil {
			return err
		}
		b.cluster = c
		b.forest = plan("bench", b.Topology, b.Namespaces)
	}
	return r.measure(ctx, b)
}

func (b *bench) stop() {
	if b.cluster != nil {
		b.cluster.stop()
	}
}

// clients are those of one user. All but the hierarchy's, which is served as JSON only, speak protobuf, as Kubernetes'
// own do.
type clients struct {
	config    *rest.Config
	kube      kubernetes.Interface
	hierarchy versioned.Interface
	metadata  metadata.Interface
	dynamic   dynamic.Interface
}

// cluster is a control plane, and our servers as far as they run.
type cluster struct {
	options options
	sayf    func(string, ...any)
	cp      *controlplane.ControlPlane
	// installation is what Install has made; it stays when we are taken away.
	installation *controlplane.Installation
	state        state
	// watches is how many hns-apiserver served when it was stopped.
	watches float64
	// clients are those of somebody with all permissions by RBAC: requests of system:masters are exempt from priority
	// and fairness, and from authorization.
	clients
	admin clients
	dir   string
}

// quiet are the arguments of a controller manager that has nothing to do in new namespaces, and is not throttled in
// deleting old ones: what it would write for minutes after a forest was made has nothing to do with us, and would be in
// each measurement.
var quiet = []string{
	"--controllers=*,-serviceaccount-controller,-root-ca-certificate-publisher-controller",
	"--kube-api-qps=1000", "--kube-api-burst=1000", "--concurrent-namespace-syncs=20",
}

func startCluster(ctx context.Context, o options, sayf func(string, ...any)) (*cluster, error) {
	c := &cluster{options: o, sayf: sayf, dir: o.Dir}
	var err error
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "bench"); err != nil {
			return nil, err
		}
	}
	bin := filepath.Join(o.Root, "_output", "bin")
	if err := controlplane.RequireBinaries(bin, hnc.APIServerName, hnc.PropagatorName, hnsSync); err != nil {
		return nil, err
	}
	sayf("a control plane starts in %s", c.dir)
	c.cp, err = controlplane.Start(ctx, controlplane.Config{Dir: c.dir, BinDir: bin, UnsafeNoFsync: o.Quick, ControllerManagerArgs: quiet})
	if err != nil {
		return nil, err
	}
	if err := c.makeClients(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// makeClients makes the user with all permissions.
func (c *cluster) makeClients(ctx context.Context) error {
	var err error
	if c.admin, err = clientsFor(c.cp.RESTConfig()); err != nil {
		return err
	}
	const user = "bench"
	config, err := c.cp.User(user)
	if err != nil {
		return err
	}
	if c.clients, err = clientsFor(config); err != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := c.admin.kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	return until(ctx, c.options.Timeout, func(ctx context.Context) error {
		_, err := c.kube.RbacV1().ClusterRoleBindings().Get(ctx, user, metav1.GetOptions{})
		return err
	})
}

func clientsFor(config *rest.Config) (clients, error) {
	config = rest.CopyConfig(config)
	clientconfig.SetDefaults(config)
	c := clients{config: config}
	var errs [4]error
	c.kube, errs[0] = kubernetes.NewForConfig(clientconfig.Protobuf(config))
	c.hierarchy, errs[1] = versioned.NewForConfig(config)
	c.metadata, errs[2] = metadata.NewForConfig(config)
	c.dynamic, errs[3] = dynamic.NewForConfig(config)
	return c, errors.Join(errs[:]...)
}

// stop ends all processes.
func (c *cluster) stop() {
	// The context of the run may have ended.
	if err := c.cp.Stop(context.Background()); err != nil {
		c.sayf("stopping: %v", err)
	}
	if c.options.Dir == "" {
		if err := os.RemoveAll(c.dir); err != nil {
			c.sayf("removing the state: %v", err)
		}
	}
}

// forestOf builds the big forest up to n namespaces, unless it is that big. The fastest way is: the namespaces by 32
// writers, then their hierarchies by as many; the propagator labels meanwhile.
func (b *bench) forestOf(ctx context.Context, n int) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	if n <= b.forestSize {
		return nil
	}
	b.sayf("growing the forest from %d to %d namespaces", b.forestSize, n)
	if err := b.createNamespaces(ctx, b.forest.names[b.forestSize:n]); err != nil {
		return err
	}
	if _, err := b.setParents(ctx, b.forest.first(n), b.forestSize); err != nil {
		return err
	}
	b.forestSize = n
	return nil
}

// wholeForest builds all of the big forest.
func (b *bench) wholeForest(ctx context.Context) error { return b.forestOf(ctx, b.Namespaces) }

// subtree makes a tree of its own with its namespaces, and returns it.
func (b *bench) subtree(ctx context.Context, prefix string, n int) (tree, error) {
	if err := b.up(ctx); err != nil {
		return tree{}, err
	}
	t := plan(prefix, b.Topology, n)
	if err := b.createNamespaces(ctx, t.names); err != nil {
		return t, err
	}
	_, err := b.setParents(ctx, t, 0)
	if err != nil {
		return t, fmt.Errorf("tree %s: %w", prefix, err)
	}
	return t, nil
}
