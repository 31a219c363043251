// Package previous tests that this build takes over the data of an earlier one, serves its clients, and gives both
// back: make upgrade PREVIOUS=REF. The earlier build's servers, manifests and plugin are those of a commit, which is
// built from source.
package previous

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	root   = "../../../.."
	output = root + "/_output"
)

var ref = flag.String("previous", "", "the commit or tag to upgrade from; without it there is nothing to test")

// build is a build of this project.
type build struct {
	// name is what messages call it.
	name string
	// bin has its binaries, and source its manifests.
	bin, source string
}

// current is the build under test, which make has built.
var current = build{name: "this build", bin: output + "/bin", source: root}

// hasAlpha reports whether the build has v1alpha3, in which hierarchies/tree is answered.
func (b build) hasAlpha(t *testing.T) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(b.source, "pkg/apis/hnc/v1alpha3"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}

// checkout builds a commit, unless it was built before. It is built as make builds, which compiles the packages that
// both have in common only once. The binaries of Kubernetes are those of the build under test.
func checkout(t *testing.T, ref string) build {
	t.Helper()
	commit := strings.TrimSpace(run(t, root, "git", "rev-parse", "--verify", ref+"^{commit}"))
	dir, err := filepath.Abs(filepath.Join(output, "upgrade", commit))
	if err != nil {
		t.Fatal(err)
	}
	b := build{name: ref, bin: filepath.Join(dir, "bin"), source: filepath.Join(dir, "source")}
	if _, err := os.Stat(filepath.Join(b.bin, "complete")); err == nil {
		return b
	}
	for _, d := range []string{b.bin, b.source} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(dir, "source.tar")
	run(t, root, "git", "archive", "--output="+archive, commit)
	run(t, dir, "tar", "-C", b.source, "-xf", archive)
	t.Logf("building %s", commit)
	run(t, b.source, "go", "build", "-buildvcs=false", "-ldflags=-X main.version=previous", "-o", b.bin, "./cmd/...")
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"} {
		binary, err := filepath.Abs(filepath.Join(current.bin, name))
		if err == nil {
			err = os.Symlink(binary, filepath.Join(b.bin, name))
		}
		if err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(b.bin, "complete"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// cluster is a cluster and the build that is installed in it.
type cluster struct {
	*controlplane.ControlPlane
	admin        suite.User
	dir          string
	installation *controlplane.Installation
	build        build
	// quotas reports that the earlier build has hierarchical quotas.
	quotas bool
}

// newCluster starts a control plane without any of our servers. Its directory is kept if the test fails: the logs in it
// show why.
func newCluster(t *testing.T, b build) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "hns-upgrade-")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{dir: dir}
	c.as(t, b)
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the logs of the servers are kept in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if c.admin, err = suite.NewUser("admin", c.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	return c
}

// as uses the binaries of a build from now on. What runs goes on running.
func (c *cluster) as(t *testing.T, b build) {
	t.Helper()
	cp, err := controlplane.Start(context.WithoutCancel(t.Context()), suite.Config(c.dir, b.bin))
	if err != nil {
		t.Fatal(err)
	}
	c.ControlPlane, c.build = cp, b
}

// install applies the manifests of the build.
func (c *cluster) install(t *testing.T) {
	t.Helper()
	installation, err := c.Install(t.Context(), filepath.Join(c.build.source, "artifacts/dev"), filepath.Join(c.build.source, "artifacts/policies"))
	if err != nil {
		t.Fatal(err)
	}
	c.installation = installation
}

// replace stops a server, and starts that of the build. It returns when the server is ready and, if it is the API
// server, kube-apiserver serves its API.
func (c *cluster) replace(t *testing.T, name string, args ...string) {
	t.Helper()
	if err := c.StopProcess(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := suite.Start(context.WithoutCancel(t.Context()), c.ControlPlane, c.installation, controlplane.Server{Name: name, Args: args}); err != nil {
		t.Fatalf("%s of %s: %v", name, c.build.name, err)
	}
}

// hns runs a plugin as the administrator, and returns what it prints.
func (c *cluster) hns(t *testing.T, plugin build, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(plugin.bin, "kubectl-hns"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl hns %s of %s: %w: %s", strings.Join(args, " "), plugin.name, err, out)
	}
	return string(out), err
}

func (c *cluster) mustHNS(t *testing.T, plugin build, args ...string) string {
	t.Helper()
	out, err := c.hns(t, plugin, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
