package release

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// notrace is the tag that leaves traces out of gRPC.
const notrace = "-tags=grpcnotrace"

// The linker keeps every exported method of a program in which anything reachable executes a template.
func TestServersHaveNoTemplatesOfTraces(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(makefile), "-trimpath "+notrace+" ") {
		t.Errorf("the Makefile builds without %s", notrace)
	}
	for _, server := range []string{"hns-propagator", "hns-sync", "hns-gateway"} {
		out, err := exec.CommandContext(t.Context(), "go", "list", notrace, "-deps", "../../cmd/"+server).Output()
		if err != nil {
			t.Fatal(err)
		}
		if packages := strings.Fields(string(out)); len(packages) < 100 || slices.Contains(packages, "golang.org/x/net/trace") {
			t.Errorf("%s links golang.org/x/net/trace, or it has only %d packages", server, len(packages))
		}
	}
}
