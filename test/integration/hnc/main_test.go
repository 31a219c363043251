// Package hnc tests the migration with the real HNC: make hnc HNC=1.1.0. HNC and our servers run from their manifests
// and chart, in a cluster whose pods are processes, and the commands are those of docs/migration.md.
package hnc

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	stdlog "log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/kubelet"
)

const (
	root   = "../../.."
	binDir = root + "/_output/bin"
)

var (
	release = flag.String("hnc", "", "the version of HNC, such as 1.1.0; without it there is nothing to test")

	cp    *controlplane.ControlPlane
	admin suite.User
	// module is HNC's source, and manager its program.
	module, manager string
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *release == "" {
		os.Exit(m.Run())
	}
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, "HNC is not built:", err)
		os.Exit(1)
	}
	if err := kubelet.Enter(); err != nil {
		fmt.Fprintln(os.Stderr, "skipped:", err)
		os.Exit(0)
	}
	os.Exit(suite.RunConfigured(m, binDir, func(c *controlplane.Config) error {
		c.ControllerManagerArgs = []string{"--controllers=*," + kubelet.WithoutControllers}
		return nil
	}, setUp))
}

// build compiles the manager of HNC's module, unless that was done before.
func build() error {
	dir, err := filepath.Abs(filepath.Join(root, "_output/hnc", *release))
	if err != nil {
		return err
	}
	module, manager = filepath.Join(dir, "source"), filepath.Join(dir, "manager")
	if _, err := os.Stat(manager); err == nil {
		return nil
	}
	out, err := exec.Command("go", "mod", "download", "-json", "sigs.k8s.io/hierarchical-namespaces@v"+*release).Output()
	if err != nil {
		return fmt.Errorf("go mod download: %w: %s", err, out)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(module), os.CopyFS(module, os.DirFS(found.Dir))); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-mod=mod", "-o", manager, "./cmd/manager")
	cmd.Dir, cmd.Stderr = module, os.Stderr
	return cmd.Run()
}

func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if admin, err = suite.NewUser("admin", cp.RESTConfig()); err != nil {
		return err
	}
	bin, err := filepath.Abs(binDir)
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(cp.Dir(), "kubelet.log"))
	if err != nil {
		return err
	}
	k := &kubelet.Kubelet{Config: admin.Config, Dir: cp.Dir(), Programs: map[string]string{"controller": manager}, Log: stdlog.New(log, "", stdlog.LstdFlags)}
	for _, name := range []string{"hns-apiserver", "hns-propagator"} {
		k.Programs[name] = filepath.Join(bin, name)
	}
	go func() {
		if err := k.Run(ctx); err != nil {
			panic(err)
		}
	}()
	return nil
}

// since reports whether HNC's version is this one or a later one.
func since(t *testing.T, first string) bool {
	t.Helper()
	v, err := version.ParseGeneric(*release)
	if err != nil {
		t.Fatal(err)
	}
	return v.AtLeast(version.MustParseGeneric(first))
}

// variant is the directory of HNC's manifests: that with quotas, if there is one.
func variant() string {
	for _, dir := range []string{"variants/hrq", "variants/default-cc"} {
		if _, err := os.Stat(filepath.Join(module, "config", dir)); err == nil {
			return filepath.Join(module, "config", dir)
		}
	}
	return filepath.Join(module, "config/default")
}

// installHNC applies HNC's manifests, with further flags, as kubectl apply and GitOps do, and returns when it is
// available.
func installHNC(t *testing.T, flags ...string) {
	t.Helper()
	manifests := kubectl(t, "", "kustomize", variant())
	const last = "        - --excluded-namespace=kube-node-lease\n"
	before, after, found := strings.Cut(manifests, last)
	if !found {
		t.Fatal("HNC's Deployment has other flags")
	}
	for _, f := range flags {
		before += "        - " + f + "\n"
	}
	kubectl(t, before+last+after, "apply", "-f", "-")
	kubectl(t, "", "rollout", "status", "-n", "hnc-system", "deployment/hnc-controller-manager", "--timeout=5m")
}
