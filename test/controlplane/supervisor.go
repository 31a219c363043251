package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// supervisor is the name of the process that runs a Supervisor.
const supervisor = "supervisor"

const (
	// superviseEvery is how often processes are looked at, probeTimeout how long the answer of a readiness check may
	// take, and tolerated how many of these may fail in a row before requests go to the other replicas.
	superviseEvery = 250 * time.Millisecond
	probeTimeout   = time.Second
	tolerated      = 2
)

// Supervisor does for our processes what a kubelet and the endpoints controller do for pods: it starts what has ended,
// and keeps the endpoint of each hns-apiserver ready for as long as its /readyz is.
type Supervisor struct {
	cp           *ControlPlane
	installation *Installation
	members      []EtcdMember
	servers      []Server

	mu sync.Mutex
	// held are the processes that stay down.
	held map[string]bool
}

// NewSupervisor returns a Supervisor of etcd members and of servers, all of which run. Those hns-apiservers among them
// get requests if kube-apiserver routes to endpoints (--enable-aggregator-routing), the Service has no selector, and
// Run runs.
func NewSupervisor(cp *ControlPlane, installation *Installation, members []EtcdMember, servers []Server) *Supervisor {
	return &Supervisor{cp: cp, installation: installation, members: members, servers: servers, held: map[string]bool{}}
}

// Hold keeps a process down after it has ended, until the returned function is called.
func (s *Supervisor) Hold(process string) (release func()) {
	set := func(held bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held[process] = held
	}
	set(true)
	return func() { set(false) }
}

func (s *Supervisor) isHeld(process string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[process]
}

// Run supervises until ctx is done, and returns when no start is under way any more.
func (s *Supervisor) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, member := range s.members {
		all.Go(func() {
			s.keep(ctx, member.Process, func(ctx context.Context) error { return etcdProcesses{s.cp}.start(ctx, member, s.members) })
		})
	}
	for _, server := range s.servers {
		all.Go(func() {
			s.keep(ctx, server.Process(), func(ctx context.Context) error {
				_, err := s.cp.StartServer(ctx, s.installation, server)
				return err
			})
		})
		if server.Name == hnc.APIServerName {
			all.Go(func() { s.route(ctx, server) })
		}
	}
	all.Wait()
}

// keep starts a process whenever it has ended.
func (s *Supervisor) keep(ctx context.Context, process string, start func(context.Context) error) {
	ticks := time.NewTicker(superviseEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if s.cp.Running(process) || s.isHeld(process) {
			continue
		}
		if err := start(ctx); err != nil && ctx.Err() == nil {
			klog.ErrorS(err, "Start", "process", process)
		}
	}
}

// route keeps the endpoint of a replica of hns-apiserver as ready as it is.
func (s *Supervisor) route(ctx context.Context, server Server) {
	ticks := time.NewTicker(superviseEvery)
	defer ticks.Stop()
	published, failed := -1, 0
	for {
		if s.ready(ctx, server) == nil {
			failed = 0
		} else {
			failed++
		}
		// A process that has ended is unready at once, as a container is for a kubelet.
		ready := 0
		if failed == 0 || failed < tolerated && published == 1 && s.cp.Running(server.Process()) {
			ready = 1
		}
		if ready != published {
			if err := Publish(ctx, s.cp, server, ready == 1); err == nil {
				published = ready
			} else if ctx.Err() == nil {
				klog.ErrorS(err, "Publishing an endpoint", "process", server.Process())
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

func (s *Supervisor) ready(ctx context.Context, server Server) error {
	port, err := s.cp.ports.get(server.Process())
	if err != nil {
		return err
	}
	config, err := clientTLS(s.cp.CAFile(), s.cp.pki.pair("admin"))
	if err != nil {
		return err
	}
	config.ServerName = "localhost"
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	return probe(ctx, client, "https://"+server.endpoint(port)+"/readyz")
}

// Publish writes the endpoint of a replica of hns-apiserver. kube-apiserver sends requests to it if it is ready.
func Publish(ctx context.Context, cp *ControlPlane, server Server, ready bool) error {
	port, err := cp.ports.get(server.Process())
	if err != nil {
		return err
	}
	return cp.Apply(ctx, []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
		"metadata": map[string]any{
			"namespace": Namespace, "name": server.Process(),
			"labels": map[string]any{"kubernetes.io/service-name": hnc.APIServerName, "endpointslice.kubernetes.io/managed-by": fieldManager},
		},
		"addressType": "IPv4",
		"ports":       []any{map[string]any{"name": "https", "port": int64(port), "protocol": "TCP"}},
		"endpoints": []any{map[string]any{
			"addresses": []any{server.Address}, "conditions": map[string]any{"ready": ready},
		}},
	}}})
}

// StopSupervisor ends the process that runs a Supervisor, if there is one. What it supervises runs on.
func StopSupervisor(ctx context.Context, dir string) error { return StopProcess(ctx, dir, supervisor) }

// HostAddress returns an IPv4 address of this machine that other than loopback ones endpoints may have.
func HostAddress() (string, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, address := range addresses {
		if ip, ok := address.(*net.IPNet); ok && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String(), nil
		}
	}
	return "", errors.New("this machine has no IPv4 address but those of the loopback interface, which endpoints must not have")
}

// StartSupervisor runs a binary that runs a Supervisor, unless it runs already, as a process that is stopped before all
// others.
func StartSupervisor(cp *ControlPlane, binary string, args ...string) error {
	p := newProcess(cp.config.Dir, supervisor)
	if _, running := p.running(); running {
		return nil
	}
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("the supervisor is not built: %w", err)
	}
	return p.start(binary, args, cp.config.Detached)
}
