// Command conformance runs Kubernetes' conformance specs in a cluster, as its administrator, and those that pass there
// in views of it, as the admin of a tree. It writes docs/conformance.md. `make conformance` runs it from the
// repository's root, after building the binaries.
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
	"regexp"
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
	resume := flag.Bool("resume", false, "keep the results that exist: of an interrupted run, or to write the page again")
	focus := flag.String("focus", "", "run only the specs whose names match this regular expression; their results replace those of an earlier run")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := conform(ctx, *dir, *procs, *resume, *focus)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func conform(ctx context.Context, dir string, procs int, resume bool, focus string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	p := program{dir: dir, results: dir, procs: procs, focused: focus != ""}
	if p.focus, err = regexp.Compile(focus); err != nil {
		return err
	}
	every := slices.Concat(runs...)
	// Without the results of all specs, those of some are apart: they are not enough for the page.
	apart := p.focused && slices.ContainsFunc(every, func(r run) bool { return !exists(dir, r.name) })
	if apart {
		p.results = filepath.Join(dir, "focused")
	}
	if err := os.MkdirAll(p.results, 0o700); err != nil {
		return err
	}
	if !resume && (apart || !p.focused) {
		for _, r := range every {
			if err := os.RemoveAll(resultsPath(p.results, r.name)); err != nil {
				return err
			}
		}
	}
	all, err := p.runAll(ctx)
	if err != nil {
		return err
	}
	if apart {
		fmt.Println("--> " + pagePath + " stays as it is: there are no results of the other specs")
		return nil
	}
	version, err := module(ctx, "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return err
	}
	return os.WriteFile(pagePath, page(version, all), 0o600)
}

// program runs specs.
type program struct {
	// dir is the directory of the runs, and results that of their results.
	dir, results string
	procs        int
	// focus matches the names of the specs to run; focused is set unless these are all.
	focus   *regexp.Regexp
	focused bool
}

// runAll runs the specs that there are no results of, or those of the focus, on a new cluster.
func (p program) runAll(ctx context.Context) (all map[string]results, err error) {
	var c *cluster
	defer func() {
		if c != nil {
			err = errors.Join(err, c.stop(context.WithoutCancel(ctx)))
		}
	}()
	all = map[string]results{}
	for _, together := range runs {
		missing := slices.DeleteFunc(slices.Clone(together), func(r run) bool { return !p.focused && exists(p.results, r.name) })
		if len(missing) > 0 && c == nil {
			if c, err = start(ctx, p.dir); err != nil {
				return nil, err
			}
			if err := c.simulate(ctx, p.dir); err != nil {
				return nil, err
			}
		}
		running, ctx := errgroup.WithContext(ctx)
		for _, r := range missing {
			running.Go(func() error {
				if err := r.run(ctx, p.dir, c.cp.Kubeconfig(), p.procs/len(missing), r.specs(all, p.focus)); err != nil {
					return err
				}
				return keepResults(p.dir, p.results, r.name)
			})
		}
		if err := running.Wait(); err != nil {
			return nil, err
		}
		found := map[string]results{}
		for _, r := range together {
			if found[r.name], err = readResults(p.results, r.name); err != nil {
				return nil, err
			}
			passed := len(found[r.name].passed())
			fmt.Printf("--> %s: %d specs passed\n", r.name, passed)
			if passed == 0 && r.retries == "" && !p.focused {
				return nil, fmt.Errorf("no spec has passed, see %s", filepath.Join(p.dir, r.name, logFile))
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
