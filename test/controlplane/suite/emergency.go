package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// Emergency runs the script of docs/operations.md from the folder of a suite. The command is suspend or resume; the
// file keeps the APIServices in between.
func Emergency(ctx context.Context, cp *controlplane.ControlPlane, binDir, command, file string) error {
	script := exec.CommandContext(ctx, "bash", "../../../artifacts/emergency.sh", command, file)
	bin, err := filepath.Abs(binDir)
	if err != nil {
		return err
	}
	script.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+cp.Kubeconfig())
	if out, err := script.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, out)
	}
	return nil
}
