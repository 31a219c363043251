// Package docs runs what README.md and the pages of docs show, in the sample tree, and compares the output. With
// -update it writes the output into the pages.
package docs

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/pages"
)

const (
	root   = "../../.."
	binDir = root + "/_output/bin"
)

var (
	update = flag.Bool("update", false, "write the output into the pages")

	cp    *controlplane.ControlPlane
	admin suite.User
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if admin, err = suite.NewUser("admin", cp.RESTConfig()); err != nil {
		return err
	}
	servers := []controlplane.Server{{Name: "hns-apiserver", Args: []string{suite.PatientCreates}}, {Name: "hns-propagator"}}
	if _, err := suite.Install(ctx, cp, suite.Artifacts, servers...); err != nil {
		return err
	}
	sample, err := cp.Render(ctx, root+"/artifacts/sample")
	if err != nil {
		return err
	}
	return cp.Apply(ctx, sample)
}

// checkout returns a directory that looks like the root of the repository after `make up`, with the suite's control
// plane.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "_output"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"artifacts": root + "/artifacts", "docs": root + "/docs", "examples": root + "/examples", "_output/bin": binDir, "_output/dev": cp.Dir()} {
		target, err := filepath.Abs(target)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPages(t *testing.T) {
	all, err := pages.All(root)
	if err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range all {
		if pages.RunElsewhere[page.Name()] != "" {
			continue
		}
		t.Run(page.Name(), func(t *testing.T) {
			dir := checkout(t)
			begin := time.Now()
			pages.Runner{
				Dir: dir,
				Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "KUBECONFIG=" + cp.Kubeconfig(),
					"KUBECACHEDIR=" + filepath.Join(cp.Dir(), "kubectl-cache"), "KUBERC=off"},
				Update:   *update,
				Patience: suite.Deadline / 4,
			}.Run(t, page)
			t.Logf("%.1f s", time.Since(begin).Seconds())
		})
	}
}
