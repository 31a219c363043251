// Command dev runs a development cluster with this project installed. `make up`, `make restart` and `make down` run it
// from the repository's root, after building the binaries. Each -dir has its own cluster.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	binDir = "_output/bin"
	sample = "artifacts/sample"
)

// installed is what a cluster runs.
type installed struct {
	// overlays are the kustomizations that are installed.
	overlays []string
	// servers are our servers, in the order in which they can start.
	servers []controlplane.Server
	// sync says that hns-sync is one of them.
	sync bool
	// view says that hns-gateway runs, too.
	view bool
	// members are those of the servers' etcd, if there are several replicas.
	members []controlplane.EtcdMember
}

// contents returns what the cluster in dir runs: hns-sync, hns-gateway, or several replicas, if they are asked for or
// have been before.
func contents(dir string, withSync, withView, replicated bool) (*installed, error) {
	c := &installed{
		overlays: []string{"artifacts/dev", "artifacts/policies"},
		servers:  []controlplane.Server{{Name: hnc.APIServerName}, {Name: hnc.PropagatorName}},
	}
	server, err := syncServer(dir)
	if err != nil {
		return nil, err
	}
	local, err := repositories(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(local); err == nil || withSync {
		c.overlays[0] = syncOverlay
		c.servers = append(c.servers, server)
		c.sync = true
	}
	c.view = withView || viewed(dir)
	return c, c.replicate(dir, replicated)
}

func main() {
	dir := flag.String("dir", "_output/dev", "the directory of the cluster's state")
	withSync := flag.Bool("sync", false, "run hns-sync, too, with a sample repository")
	withView := flag.Bool("view", false, "run hns-gateway, too, with a view of the sample tree")
	replicated := flag.Bool("ha", false, "run several replicas of both servers, and of etcd")
	flag.Parse()
	commands := map[string]func(context.Context, string, *installed) error{"up": up, "down": down, "restart": restart, superviseCommand: supervise}
	command := commands[flag.Arg(0)]
	if command == nil || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/dev [-dir DIR] [-sync] [-view] [-ha] up|restart|down")
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	what, err := contents(*dir, *withSync, *withView, *replicated)
	if err == nil {
		err = command(ctx, *dir, what)
	}
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// up starts the processes that do not run, installs the overlays, and applies the sample tree. It is idempotent.
func up(ctx context.Context, dir string, what *installed) error {
	begin := time.Now()
	cp, err := start(ctx, dir, what)
	if err != nil {
		return err
	}
	step("applying the sample tree (%s)", sample)
	objects, err := cp.Render(ctx, sample)
	if err != nil {
		return err
	}
	if err := cp.Apply(ctx, objects); err != nil {
		return err
	}
	fmt.Printf(ready, time.Since(begin).Round(100*time.Millisecond), cp.Log("*"), filepath.Join("$PWD", binDir), cp.Kubeconfig())
	if what.view {
		if err := applyView(ctx, cp); err != nil {
			return err
		}
	}
	if what.sync {
		return applySync(ctx, cp, dir)
	}
	return nil
}

// restart restarts our servers with the current binaries. Kubernetes keeps running.
func restart(ctx context.Context, dir string, what *installed) error {
	if what.members != nil {
		_, err := start(ctx, dir, what) // It replaces the replicas one by one.
		return err
	}
	servers := what.servers
	if what.view {
		servers = append(slices.Clone(servers), gateway)
	}
	for _, server := range servers {
		step("stopping %s", server.Name)
		if err := controlplane.StopProcess(ctx, dir, server.Process()); err != nil {
			return err
		}
	}
	_, err := start(ctx, dir, what)
	return err
}

func down(ctx context.Context, dir string, _ *installed) error {
	if err := controlplane.Stop(ctx, dir); err != nil {
		return err
	}
	fmt.Printf("stopped; the data stay in %s (delete it for a fresh start)\n", dir)
	return nil
}

// start starts the processes that do not run, and registers our API with kube-apiserver.
func start(ctx context.Context, dir string, what *installed) (*controlplane.ControlPlane, error) {
	names := make([]string, 0, len(what.servers))
	for _, server := range what.servers {
		names = append(names, server.Name)
	}
	if err := controlplane.RequireBinaries(binDir, names...); err != nil {
		return nil, err
	}
	step("launching etcd, kube-apiserver and kube-controller-manager")
	cp, err := controlplane.Start(ctx, what.config(dir))
	if err != nil {
		return nil, err
	}
	if what.members != nil {
		return cp, startReplicas(ctx, cp, what)
	}
	step("installing %v", what.overlays)
	installation, err := cp.Install(ctx, what.overlays...)
	if err != nil {
		return nil, err
	}
	for _, server := range what.servers {
		step("launching %s", server.Name)
		port, err := cp.StartServer(ctx, installation, server)
		if err != nil {
			return nil, err
		}
		if server.Name != hnc.APIServerName {
			continue
		}
		if err := cp.Register(ctx, installation, port); err != nil {
			return nil, err
		}
	}
	if what.view {
		return cp, startGateway(ctx, cp)
	}
	return cp, nil
}

func step(format string, args ...any) { fmt.Printf("--> "+format+"\n", args...) }

const ready = `
The cluster is up (%s). Logs are in %s. Try:

  export PATH="%s:$PATH" KUBECONFIG="%s"
  kubectl hns tree acme --objects rolebindings          # the tree, with its RoleBindings and their sources
  kubectl hns create service-2 -n team-a                # a sub-namespace, ready to use
  kubectl hns why rolebinding/developers-read-pods -n service-2

and then:

  kubectl get networkpolicies,secrets,limitranges,configmaps -A -l hnc.x-k8s.io/inherited-from=acme    # a kind in each mode
  kubectl auth can-i list pods -n service-1 --as=jane --as-group=acme-developers

make restart: rebuild and restart our servers. make down: stop; make up resumes.
`
