package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
)

// short are specs that pass in both views and need no pods.
var short = []string{
	"[sig-api-machinery] FieldValidation should detect unknown and duplicate fields of a typed object [Conformance]",
	"[sig-api-machinery] Garbage collector should orphan RS created by deployment when deleteOptions.PropagationPolicy is Orphan [Conformance]",
	"[sig-api-machinery] Namespaces should ensure that all services are removed when a namespace is deleted [Conformance] [Serial]",
	"[sig-api-machinery] Servers with support for Table transformation should return a 406 for a backend which does not implement metadata [Conformance]",
	"[sig-api-machinery] Watchers should observe an object deletion if it stops meeting the requirements of the selector [Conformance]",
	"[sig-apps] DisruptionController Listing PodDisruptionBudgets for all namespaces should list and delete a collection of PodDisruptionBudgets [Conformance]",
	"[sig-apps] DisruptionController should create a PodDisruptionBudget [Conformance]",
	"[sig-auth] ServiceAccounts should guarantee kube-root-ca.crt exist in any namespace [Conformance]",
	"[sig-auth] ServiceAccounts should run through the lifecycle of a ServiceAccount [Conformance]",
	"[sig-cli] Kubectl client Kubectl api-versions should check if v1 is in available api versions [Conformance]",
	"[sig-cli] Kubectl client Kubectl diff should check if kubectl diff finds a difference for Deployments [Conformance]",
	"[sig-cli] Kubectl client Kubectl version should check is all data is printed [Conformance]",
	"[sig-instrumentation] Events API should ensure that an event can be fetched, patched, deleted, and listed [Conformance]",
	"[sig-network] EndpointSlice should create and delete EndpointSlices for a Service with a selector that matches no pods [Conformance]",
	"[sig-network] Services should find a service from listing all namespaces [Conformance]",
	"[sig-node] ConfigMap should run through a ConfigMap lifecycle [Conformance]",
	"[sig-node] Lease lease API should be available [Conformance]",
	"[sig-node] Secrets should patch a secret [Conformance]",
	"[sig-storage] ConfigMap should be immutable if `immutable` field is set [Conformance]",
	"[sig-storage] Secrets should be immutable if `immutable` field is set [Conformance]",
}

// ownKinds are specs that pass only in the view that allows CustomResourceDefinitions.
var ownKinds = []string{
	"[sig-api-machinery] CustomResourcePublishOpenAPI [Privileged:ClusterAdmin] works for multiple CRDs of same group but different versions [Conformance]",
	"[sig-api-machinery] CustomResourcePublishOpenAPI [Privileged:ClusterAdmin] works for CRD without validation schema [Conformance]",
}

// The specs run in both views at once, as the admin of the tree.
func TestShortForm(t *testing.T) {
	t.Chdir("../..")
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "test/conformance/build.sh", dir, "short").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c, err := start(t.Context(), dir)
	t.Cleanup(func() {
		if c != nil {
			if err := c.stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string][]string{relative: slices.Concat(short, ownKinds), realNames: short}
	running, ctx := errgroup.WithContext(t.Context())
	for _, r := range runs[1] {
		all := map[string]results{direct: {}}
		for _, name := range wanted[r.name] {
			all[direct][name] = true
		}
		running.Go(func() error {
			if err := r.run(ctx, dir, c.cp.Kubeconfig(), 2, r.specs(all, regexp.MustCompile(""))); err != nil {
				return err
			}
			return keepResults(dir, dir, r.name)
		})
	}
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	for name, specs := range wanted {
		found, err := readResults(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range specs {
			if !found[spec] {
				t.Errorf("%s: %s has not passed", name, spec)
			}
		}
		if t.Failed() {
			t.Logf("%s: %s", name, tail(t, filepath.Join(dir, name, logFile)))
		}
	}
}

// tail returns the end of a file.
func tail(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw[max(0, len(raw)-1<<14):]
}
