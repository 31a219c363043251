package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	root = "../../.."
	// reboundHost is a name that the browser resolves to 127.0.0.1.
	reboundHost = "rebound.example"
)

var (
	screenshots = flag.Bool("screenshots", false, "write the pictures of docs/ui")

	cp     *controlplane.ControlPlane
	binDir string
	// admin has the clients of the cluster's administrator.
	admin suite.User
	// chromium is the context of the running browser.
	chromium context.Context
	// reading is the page without --write, writing the one with it.
	reading, writing *Page
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path := Find()
	if path == "" {
		fmt.Println("The tests of the page in the browser are skipped:", Missing)
		return m.Run()
	}
	var err error
	var stop context.CancelFunc
	if chromium, stop, err = Start(path, chromedp.Flag("host-resolver-rules", "MAP "+reboundHost+" 127.0.0.1")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	if binDir, err = filepath.Abs(filepath.Join(root, "_output/bin")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		for _, p := range []*Page{reading, writing} {
			if p != nil {
				_ = p.Stop()
			}
		}
	}()
	return suite.Run(m, binDir, setUp)
}

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	if err := controlplane.RequireBinaries(binDir, "kubectl-hns"); err != nil {
		return err
	}
	var err error
	if admin, err = suite.NewUser("admin", cp.RESTConfig()); err != nil {
		return err
	}
	servers := []controlplane.Server{{Name: "hns-apiserver", Args: []string{suite.PatientCreates}}, {Name: "hns-propagator"}}
	if _, err := suite.Install(ctx, cp, []string{root + "/artifacts/dev", root + "/artifacts/policies"}, servers...); err != nil {
		return err
	}
	for _, dir := range []string{root + "/artifacts/sample", "testdata/world"} {
		objects, err := cp.Render(ctx, dir)
		if err != nil {
			return err
		}
		if err := cp.Apply(ctx, objects); err != nil {
			return err
		}
	}
	if reading, err = Serve(binDir, cp.Kubeconfig()); err != nil {
		return err
	}
	writing, err = Serve(binDir, cp.Kubeconfig(), "--write")
	return err
}
