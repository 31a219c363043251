package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// cpuSeconds is for how long the CPU is profiled, from the begin of what is measured.
const cpuSeconds = 10

// profiler collects profiles and costs of what is measured.
type profiler struct{ *bench }

// profiled runs what is measured of us, and says what it has cost; if asked to, it collects profiles of both servers,
// and of kube-apiserver, meanwhile and afterwards.
func (b profiler) profiled(ctx context.Context, name string, measure func() error) error {
	before := b.metered().propagated(ctx)
	err := b.accounted(ctx, name, func() error { return b.profile(ctx, name, measure) })
	if err == nil {
		_, which := since(before, b.metered().propagated(ctx))
		b.sayf("%s: the propagator wrote: %s", name, which)
	}
	return err
}

func (b profiler) profile(ctx context.Context, name string, measure func() error) error {
	if b.Profile == "" {
		return measure()
	}
	if err := os.MkdirAll(b.Profile, 0o755); err != nil { //nolint:gosec // they are to be looked at
		return err
	}
	collect := func(profile, query string) {
		var fetching sync.WaitGroup
		for _, server := range []string{apiserver, propagator, kubeAPIServer} {
			fetching.Go(func() {
				file := filepath.Join(b.Profile, fmt.Sprintf("%s-%s-%s.pprof", name, server, profile))
				if err := b.fetchProfile(ctx, server, query, file); err != nil {
					b.sayf("profile %s: %v", file, err)
				}
			})
		}
		fetching.Wait()
	}
	var cpu sync.WaitGroup
	cpu.Go(func() { collect("cpu", fmt.Sprintf("profile?seconds=%d", cpuSeconds)) })
	err := measure()
	for _, profile := range []string{"heap", "mutex", "block"} {
		collect(profile, profile)
	}
	cpu.Wait()
	return err
}

const kubeAPIServer = "kube-apiserver"

// fetchProfile writes a profile of a server to a file.
func (b profiler) fetchProfile(ctx context.Context, server, query, file string) error {
	port, err := b.cp.Port(server)
	if err != nil {
		return err
	}
	// As the administrator, straight to the server.
	client, err := rest.HTTPClientFor(b.admin.config)
	if err != nil {
		return err
	}
	body, err := controlplane.Get(ctx, client, fmt.Sprintf("https://127.0.0.1:%d/debug/pprof/%s", port, query))
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, body); err != nil {
		return err
	}
	return f.Close()
}
