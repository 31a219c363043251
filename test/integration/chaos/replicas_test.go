package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/faults"
)

const apiServers, propagators = 3, 2

// drain are flags of hns-apiserver: a replica that stops serves until no more requests are routed to it.
var drain = []string{"--shutdown-delay-duration=5s", "--shutdown-send-retry-after=true"}

// replicas is a control plane with an etcd of three members, three hns-apiservers and two hns-propagators behind
// kube-apiserver.
type replicas struct {
	config       controlplane.Config
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	supervisor   *controlplane.Supervisor
	members      []controlplane.EtcdMember
	etcd         controlplane.Etcd
	servers      []controlplane.Server
	// networks are between each hns-apiserver and all members of etcd.
	networks [apiServers][]*faults.Link
	client   *clients
	// credentials are the names that audit logs have for those of the propagators.
	credentials map[string]string
}

// startReplicas runs them until the test ends.
func startReplicas(t *testing.T, kubeFlags ...string) *replicas {
	t.Helper()
	dir, err := os.MkdirTemp("", "replicas")
	if err != nil {
		t.Fatal(err)
	}
	r := &replicas{members: controlplane.EtcdMembers(3), credentials: map[string]string{}, config: controlplane.Config{
		Dir: dir, BinDir: binDir, UnsafeNoFsync: true, APIServerArgs: append([]string{"--enable-aggregator-routing"}, kubeFlags...),
	}}
	ctx := t.Context()
	if r.cp, err = controlplane.Start(ctx, r.config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := r.cp.KillAll(context.WithoutCancel(ctx))
		if t.Failed() {
			t.Logf("the servers' logs are in %s", dir)
		} else {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		if err != nil {
			t.Error(err)
		}
	})
	if err := r.start(ctx); err != nil {
		t.Fatal(err)
	}
	supervising, stop := context.WithCancel(ctx)
	var supervisor sync.WaitGroup
	supervisor.Go(func() { r.supervisor.Run(supervising) })
	t.Cleanup(func() {
		stop()
		supervisor.Wait()
	})
	return r
}

func (r *replicas) start(ctx context.Context) error {
	var err error
	if r.client, err = newClients(r.cp.RESTConfig()); err != nil {
		return err
	}
	if r.etcd, err = controlplane.StartEtcd(ctx, r.cp, r.members); err != nil {
		return err
	}
	if r.installation, err = r.cp.Install(ctx, "../../../artifacts/dev-ha", "../../../artifacts/policies"); err != nil {
		return err
	}
	address, err := controlplane.HostAddress()
	if err != nil {
		return err
	}
	for i := range apiServers {
		etcd := r.etcd
		etcd.Endpoints = nil
		for _, endpoint := range r.etcd.Endpoints {
			u, err := url.Parse(endpoint)
			if err != nil {
				return err
			}
			p, err := faults.NewLink(ctx, u.Host)
			if err != nil {
				return err
			}
			r.networks[i] = append(r.networks[i], p)
			etcd.Endpoints = append(etcd.Endpoints, "https://"+p.Address())
		}
		server := controlplane.Server{Name: apiServer.Name, Replica: i, Address: address, Etcd: &etcd, Args: drain}
		r.servers = append(r.servers, server)
		if _, err := r.cp.StartServer(ctx, r.installation, server); err != nil {
			return err
		}
		if err := controlplane.Publish(ctx, r.cp, server, true); err != nil {
			return err
		}
	}
	if err := r.cp.Register(ctx, r.installation, 443); err != nil {
		return err
	}
	for i := range propagators {
		server := controlplane.Server{Name: propagator.Name, Replica: i}
		kubeconfig, id, err := credential(ctx, r.cp, server.Process())
		if err != nil {
			return err
		}
		r.credentials[server.Process()] = id
		server.Args = append([]string{"--kubeconfig=" + kubeconfig}, propagator.Args...)
		r.servers = append(r.servers, server)
		if _, err := r.cp.StartServer(ctx, r.installation, server); err != nil {
			return err
		}
	}
	r.supervisor = controlplane.NewSupervisor(r.cp, r.installation, r.members, r.servers)
	return nil
}

// leader returns the process that writes, "" if there is none.
func (r *replicas) leader(ctx context.Context) string {
	for i := range propagators {
		process := controlplane.Server{Name: propagator.Name, Replica: i}.Process()
		within, cancel := context.WithTimeout(ctx, time.Second) // A suspended process answers nothing.
		samples, err := r.cp.Metrics(within, process)
		cancel()
		if err == nil && samples["hns_propagator_leading"] == 1 {
			return process
		}
	}
	return ""
}

// healthy returns nil when all processes run, requests are routed to all hns-apiservers, and an hns-propagator leads.
func (r *replicas) healthy(ctx context.Context) error {
	for _, member := range r.members {
		if !r.cp.Running(member.Process) {
			return fmt.Errorf("%s does not run", member.Process)
		}
	}
	for _, server := range r.servers {
		if !r.cp.Running(server.Process()) {
			return fmt.Errorf("%s does not run", server.Process())
		}
		if server.Name == apiServer.Name {
			if err := r.routed(ctx, server); err != nil {
				return err
			}
		}
	}
	if r.leader(ctx) == "" {
		return errors.New("no propagator leads")
	}
	return nil
}

// routed returns nil when requests are routed to a replica.
func (r *replicas) routed(ctx context.Context, server controlplane.Server) error {
	slice, err := r.client.DiscoveryV1().EndpointSlices(controlplane.Namespace).Get(ctx, server.Process(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if !*conditions(slice).Ready {
		return fmt.Errorf("%s is not ready", server.Process())
	}
	return nil
}

func conditions(slice *discoveryv1.EndpointSlice) discoveryv1.EndpointConditions {
	return slice.Endpoints[0].Conditions
}

// pid returns the process's id.
func (r *replicas) pid(process string) (int, error) {
	data, err := os.ReadFile(filepath.Join(r.cp.Dir(), process+".pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}

// signal sends a signal to a process.
func (r *replicas) signal(process string, signal syscall.Signal) error {
	pid, err := r.pid(process)
	if err != nil {
		return err
	}
	return syscall.Kill(-pid, signal)
}
