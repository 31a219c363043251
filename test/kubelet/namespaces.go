package kubelet

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// inside is in the environment of a process that Enter has run.
const inside = "HNS_TEST_NAMESPACES"

// isolated runs a program in namespaces that end with it: no process, mount or address of a pod outlives it. A bridge
// makes pods reachable, and the addresses of Services are local ones.
var isolated = []string{"unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-euc", `
mount -t tmpfs none /run
ip link set lo up
ip link add br0 type bridge && ip addr add 10.1.0.1/16 dev br0 && ip link set br0 up
ip route add local 10.0.0.0/24 dev lo
exec "$0" "$@"`}

// Enter runs the program again, from its beginning, in namespaces for the network, mounts and processes, in which Run
// can be called. There, it returns nil. It returns an error where this is not possible.
func Enter() error {
	if os.Getenv(inside) != "" {
		return nil
	}
	if out, err := exec.Command(isolated[0], append(isolated[1:], "true")...).CombinedOutput(); err != nil {
		return fmt.Errorf("pods need namespaces, which root creates with unshare and ip: %w: %s", err, out)
	}
	unshare, err := exec.LookPath(isolated[0])
	if err != nil {
		return err
	}
	return syscall.Exec(unshare, slices.Concat(isolated, os.Args), append(os.Environ(), inside+"=true")) //nolint:gosec // the test itself
}
