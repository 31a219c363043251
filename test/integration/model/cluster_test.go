package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/faults"
)

const (
	binDir = "../../../_output/bin"
	// patience limits how long a request is repeated, and how long the cluster may take to match the model.
	patience = 2 * time.Minute
	// deletionPatience limits how long the deletion of a namespace may take: the namespace controller tries it with
	// dozens of requests, any of which can fail, at ever longer intervals.
	deletionPatience = 10 * time.Minute
	interval         = 50 * time.Millisecond
)

// cluster is a control plane with our servers, each connection of which passes a proxy.
type cluster struct {
	cp    *controlplane.ControlPlane
	admin suite.User
	// out is between our servers and kube-apiserver, in the other direction.
	out, in *faults.Gateway
	etcd    *faults.Link
	// store is the etcd of our servers, without a proxy.
	store controlplane.Etcd
}

// startCluster runs them until the test ends. flags are those of hns-apiserver.
func startCluster(t *testing.T, seed uint64, flags ...string) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	if c.cp, err = controlplane.Start(t.Context(), suite.Config(dir, binDir)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := c.cp.KillAll(context.WithoutCancel(t.Context()))
		if t.Failed() {
			t.Logf("the servers' logs are in %s", dir)
		} else {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		if err != nil {
			t.Error(err)
		}
	})
	if err := c.start(t, seed, flags); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cluster) start(t *testing.T, seed uint64, flags []string) error {
	ctx := t.Context()
	var err error
	config := c.cp.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	if c.admin, err = suite.NewUser("admin", config); err != nil {
		return err
	}
	installation, err := c.cp.Install(ctx, suite.Artifacts...)
	if err != nil {
		return err
	}
	members := controlplane.EtcdMembers(1)
	etcd, err := controlplane.StartEtcd(ctx, c.cp, members)
	if err != nil {
		return err
	}
	target, err := url.Parse(etcd.Endpoints[0])
	if err != nil {
		return err
	}
	if c.etcd, err = faults.NewLink(ctx, target.Host); err != nil {
		return err
	}
	c.store = etcd
	etcd.Endpoints = []string{"https://" + c.etcd.Address()}
	server := controlplane.Server{Name: "hns-apiserver", Etcd: &etcd, Args: append([]string{"--ready-timeout=2s"}, flags...)}
	propagator := controlplane.Server{Name: "hns-propagator", Args: []string{"--profiling", "-v=4"}}
	if err := c.gateways(ctx, installation, server, seed); err != nil {
		return err
	}
	for i, kubeconfig := range []*string{&installation.APIServerKubeconfig, &installation.PropagatorKubeconfig} {
		config, err := clientcmd.LoadFromFile(*kubeconfig)
		if err != nil {
			return err
		}
		for _, cluster := range config.Clusters {
			cluster.Server = fmt.Sprintf("https://127.0.0.1:%d", c.out.Port())
		}
		*kubeconfig = filepath.Join(c.cp.Dir(), fmt.Sprintf("gateway-%d.kubeconfig", i))
		if err := clientcmd.WriteToFile(*config, *kubeconfig); err != nil {
			return err
		}
	}
	for _, s := range []controlplane.Server{server, propagator} {
		if _, err := c.cp.StartServer(ctx, installation, s); err != nil {
			return err
		}
		if s.Name == server.Name {
			if err := c.cp.Register(ctx, installation, c.in.Port()); err != nil {
				return err
			}
		}
	}
	// A leader that cannot renew its lease in time ends.
	supervising, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		controlplane.NewSupervisor(c.cp, installation, members, []controlplane.Server{propagator}).Run(supervising)
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return nil
}

// gateways starts the proxies between our servers and kube-apiserver.
func (c *cluster) gateways(ctx context.Context, installation *controlplane.Installation, server controlplane.Server, seed uint64) error {
	serving, err := tls.LoadX509KeyPair(installation.Serving.CertFile, installation.Serving.KeyFile)
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(c.cp.CAFile())
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	if c.out, err = faults.NewGateway(ctx, c.cp.RESTConfig().Host, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, serving, seed); err != nil {
		return err
	}
	pair, err := c.cp.FrontProxy()
	if err != nil {
		return err
	}
	front, err := tls.LoadX509KeyPair(pair.CertFile, pair.KeyFile)
	if err != nil {
		return err
	}
	port, err := c.cp.Port(server.Process())
	if err != nil {
		return err
	}
	upstream := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{front}}
	c.in, err = faults.NewGateway(ctx, fmt.Sprintf("https://localhost:%d", port), upstream, serving, seed+1)
	return err
}

// disturb injects faults until ctx ends, and returns when no request fails any more.
func (c *cluster) disturb(ctx context.Context, random *rand.Rand) {
	rates := []float64{0, 0.05, 0.1, 0.3, 0.6}
	networks := []faults.Network{faults.Open, faults.Open, faults.Open, faults.Slow, faults.Cut, faults.Silent}
	for ctx.Err() == nil {
		c.out.SetRate(rates[random.IntN(len(rates))])
		c.in.SetRate(rates[random.IntN(len(rates))])
		c.etcd.Set(networks[random.IntN(len(networks))])
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(200+random.IntN(1300)) * time.Millisecond):
		}
	}
	c.out.SetRate(0)
	c.in.SetRate(0)
	c.etcd.Set(faults.Open)
}

// injected returns how many faults of each kind there were.
func (c *cluster) injected() (lines []string) {
	for direction, g := range map[string]*faults.Gateway{"to kube-apiserver": c.out, "to hns-apiserver": c.in} {
		all := g.Injected()
		for _, fault := range slices.Sorted(maps.Keys(all)) {
			lines = append(lines, fmt.Sprintf("%s: %s %d", direction, fault, all[fault]))
		}
	}
	slices.Sort(lines)
	return lines
}
