package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// patience bounds the time of a spec.
const patience = "2m"

// run is a run of specs in the cluster, or in a view.
type run struct {
	name string
	// view are the arguments of `kubectl hns view`, none for the cluster.
	view []string
	// retries is the run whose failures this one explains, by larger permissions.
	retries string
}

// Names of runs.
const direct, relative, realNames = "direct", "relative", "real"

// owner is the suffix of the runs of views as tree-owner.
const owner = "-owner"

// runs are all runs, in their order. Those that do not depend on each other run together.
var runs = [][]run{
	{{name: direct}},
	{
		{name: relative, view: []string{"conformance", "--as=tree-admin"}},
		{name: realNames, view: []string{"default", "--real-names", "--as=tree-admin"}},
	},
	{
		{name: relative + owner, view: []string{"conformance", "--as=tree-owner"}, retries: relative},
		{name: realNames + owner, view: []string{"default", "--real-names", "--as=tree-owner"}, retries: realNames},
	},
}

// Files in the directory of a run.
const reportFile, logFile = "report.json", "log"

// specs returns the flags that select the specs of a run by the results of the ones before. In a view, these are the
// specs that pass in the cluster; then those that fail without a known reason. Of all these, only the ones in the focus
// are run.
func (r run) specs(all map[string]results, focus *regexp.Regexp) []string {
	if r.view == nil {
		return []string{"--label-filter=Conformance && !NodeConformance", "--skip=" + excluded.String(), "--focus=" + focus.String()}
	}
	var names []string
	for _, name := range all[direct].passed() {
		_, explained := known(name, r.retries)
		if focus.MatchString(name) && (r.retries == "" || !all[r.retries][name] && !explained) {
			names = append(names, name)
		}
	}
	return []string{"--focus=" + exactly(names)}
}

// run runs specs, and writes their report and their log into a directory of the run's name.
func (r run) run(ctx context.Context, dir, kubeconfig string, procs int, specs []string) error {
	tools, err := filepath.Abs(binDir)
	if err != nil {
		return err
	}
	out := filepath.Join(dir, r.name)
	if err := errors.Join(os.RemoveAll(out), os.Mkdir(out, 0o700)); err != nil {
		return err
	}
	// Ginkgo keeps files beside the binary, which runs at the same time must not share.
	binary := filepath.Join(out, "specs.test")
	if err := os.Link(filepath.Join(dir, "specs.test"), binary); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(out, logFile))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	var command []string
	if r.view != nil {
		command = append(append(command, filepath.Join(tools, "kubectl-hns"), "view"), append(r.view, "--")...)
	}
	command = append(command, filepath.Join(dir, "ginkgo"), fmt.Sprintf("--procs=%d", procs), "--no-color", "--keep-going", "--silence-skips", "--timeout=2h",
		"--output-dir="+out, "--json-report="+reportFile)
	command = append(command, specs...)
	command = append(command, binary, "--", "-patience="+patience, "--kubectl-path="+filepath.Join(tools, "kubectl"),
		"--provider=skeleton", "--num-nodes=2", "--allowed-not-ready-nodes=-1", "--dump-logs-on-failure=false", "--e2e-output-dir="+out)
	fmt.Printf("--> %s: running the specs (%s)\n", r.name, log.Name())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Minute // Specs clean up, and only then their processes end.
	// Specs that fail are in the report.
	var exit *exec.ExitError
	err = cmd.Run()
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), os.RemoveAll(out))
	}
	if errors.As(err, &exit) {
		return nil
	}
	return err
}
