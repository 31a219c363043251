package release

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// With the flags of the Makefile, gRPC has no traces. The linker keeps every exported method of a program in which
// anything reachable executes a template.
func TestServersHaveNoTemplatesOfTraces(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^export GOFLAGS := (.+) \$\(`).FindSubmatch(makefile)
	if flags == nil {
		t.Fatal("the Makefile sets no GOFLAGS")
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../cmd/hns-propagator", "../../cmd/hns-sync", "../../cmd/hns-gateway")
	list.Env = append(os.Environ(), "GOFLAGS="+string(flags[1]))
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if packages := strings.Fields(string(out)); len(packages) < 100 || slices.Contains(packages, "golang.org/x/net/trace") {
		t.Errorf("a server links golang.org/x/net/trace, or they have only %d packages", len(packages))
	}
}
