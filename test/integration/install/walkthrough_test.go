package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/pages"
)

// A new user follows these pages, one after the other: each installs the servers and removes them.
func TestPagesAboutInstallation(t *testing.T) {
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, path := range []string{"docs/quickstart.md", "docs/install.md"} {
		t.Run(path, func(t *testing.T) {
			page, err := pages.Read(filepath.Join(root, path))
			if err != nil {
				t.Fatal(err)
			}
			pages.Runner{
				Dir: root,
				Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "KUBECONFIG=" + cp.Kubeconfig(), "KUBECACHEDIR=" + filepath.Join(home, "kubectl"), "KUBERC=off",
					"HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home},
				Patience: suite.Deadline / 4,
				// What a kubelet does.
				Before: func(block pages.Block) {
					if strings.Contains(block.Text, "uninstall") {
						if err := cp.StopProcess(t.Context(), "hns-propagator"); err != nil {
							t.Fatal(err)
						}
					}
				},
				After: func(block pages.Block) {
					switch {
					case strings.Contains(block.Text, "uninstall"):
						if err := cp.StopProcess(t.Context(), "hns-apiserver"); err != nil {
							t.Fatal(err)
						}
					case strings.Contains(block.Text, "make install") || strings.Contains(block.Text, "helm install"):
						serve(t)
					}
				},
			}.Run(t, page)
		})
	}
}
