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
	// module is HNC's source, and manager and plugin are its programs.
	module, manager, plugin string
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

// build compiles the programs of HNC's module, unless that was done before.
func build() error {
	dir, err := filepath.Abs(filepath.Join(root, "_output/hnc", *release))
	if err != nil {
		return err
	}
	module, manager, plugin = filepath.Join(dir, "source"), filepath.Join(dir, "manager"), filepath.Join(dir, "kubectl-hns")
	if _, err := os.Stat(plugin); err == nil {
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
	for _, program := range []struct{ file, source string }{{manager, "./cmd/manager"}, {plugin, "./cmd/kubectl"}} {
		cmd := exec.Command("go", "build", "-buildvcs=false", "-mod=mod", "-o", program.file, program.source)
		cmd.Dir, cmd.Stderr = module, os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
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
	for _, name := range []string{"hns-apiserver", "hns-propagator", "etcd"} {
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
