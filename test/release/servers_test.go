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
	for _, server := range []string{"hns-propagator", "hns-sync", "hns-gateway"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../cmd/"+server)
		list.Env = append(os.Environ(), "GOFLAGS="+string(flags[1]))
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		if packages := strings.Fields(string(out)); len(packages) < 100 || slices.Contains(packages, "golang.org/x/net/trace") {
			t.Errorf("%s links golang.org/x/net/trace, or it has only %d packages", server, len(packages))
		}
	}
}
