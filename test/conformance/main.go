// Command conformance runs Kubernetes' conformance specs in a cluster, as its administrator, and those that pass there in
// views of it, as the admin of a tree. It writes docs/conformance.md. `make conformance` runs it from the repository's root,
// after building the binaries.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

const (
	// binDir has the binaries of the control plane and ours.
	binDir = "_output/bin"
	// specsDir is the module of the specs.
	specsDir = "test/conformance/specs"
	pagePath = "docs/conformance.md"
)

func main() {
	dir := flag.String("dir", "_output/conformance", "the directory of the specs' binaries, of the reports and of the cluster's state")
	procs := flag.Int("procs", 8, "how many specs run at a time; most of them wait")
	resume := flag.Bool("resume", false, "keep the reports that exist: of an interrupted run, or to write the page again")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := conform(ctx, *dir, *procs, *resume)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func conform(ctx context.Context, dir string, procs int, resume bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if !resume {
		for _, r := range slices.Concat(runs...) {
			if err := os.RemoveAll(filepath.Join(dir, r.name)); err != nil {
				return err
			}
		}
	}
	all, err := runAll(ctx, dir, procs)
	if err != nil {
		return err
	}
	version, err := module(ctx, "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return err
	}
	return os.WriteFile(pagePath, page(version, all), 0o600)
}

// runAll runs the specs that there is no report of, on a new cluster.
func runAll(ctx context.Context, dir string, procs int) (all map[string]results, err error) {
	var c *cluster
	defer func() {
		if c != nil {
			err = errors.Join(err, c.stop(context.WithoutCancel(ctx)))
		}
	}()
	all = map[string]results{}
	for _, together := range runs {
		missing := slices.DeleteFunc(slices.Clone(together), func(r run) bool { return exists(dir, r.name) })
		if len(missing) > 0 && c == nil {
			if c, err = start(ctx, dir); err != nil {
				return nil, err
			}
		}
		running, ctx := errgroup.WithContext(ctx)
		for _, r := range missing {
			running.Go(func() error { return r.run(ctx, dir, c.cp.Kubeconfig(), procs/len(missing), r.specs(all)) })
		}
		if err := running.Wait(); err != nil {
			return nil, err
		}
		found := map[string]results{}
		for _, r := range together {
			if found[r.name], err = readResults(dir, r.name); err != nil {
				return nil, err
			}
			passed := len(found[r.name].passed())
			fmt.Printf("--> %s: %d specs passed\n", r.name, passed)
			if passed == 0 && r.retries == "" {
				return nil, fmt.Errorf("no spec has passed, see %s", filepath.Join(dir, r.name, logFile))
			}
		}
		maps.Copy(all, found)
	}
	return all, nil
}

// module returns a fact about a module that the specs are built with.
func module(ctx context.Context, format, path string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", format, path)
	cmd.Dir, cmd.Stderr = specsDir, os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
