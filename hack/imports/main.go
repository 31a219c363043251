// Command imports reports imports against the direction of the layers:
//
//	apis ← forest ← registry ← apiserver ← cmd
//
// It prints one line for each import that is not allowed. Run it from the repository's root.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

const module = "github.com/hierarchy-apiserver/hierarchy-apiserver/"

// allowed lists the layers that each layer may import besides itself. Layers are path prefixes; a package belongs to the longest that
// matches. A package that matches none is an error, so that every new layer is added here.
var allowed = map[string][]string{
	"pkg/apis":      {"pkg/names"},
	"pkg/forest":    {"pkg/apis"},
	"pkg/generated": {"pkg/apis"},
	"pkg/policy":    {"pkg/apis"},
	// Rules that both servers share.
	"pkg/managed":    {"pkg/apis"},
	"pkg/kinds":      {"pkg/apis"},
	"pkg/exceptions": {"pkg/apis"},
	"pkg/names":      {},
	"pkg/quota":      {"pkg/apis"},
	"pkg/access":     {},
	"pkg/wire":       {},
	"pkg/copies":     {"pkg/apis", "pkg/exceptions", "pkg/managed", "pkg/names", "pkg/quota", "pkg/wire"},
	// Repositories are compiled without a cluster.
	"pkg/repository":        {"pkg/apis", "pkg/names", "pkg/repository"},
	"pkg/repository/report": {"pkg/names"},
	"pkg/repository/object": {"pkg/repository/report"},
	"pkg/repository/scope":  {"pkg/repository/object", "pkg/repository/report"},
	"pkg/repository/load":   {"pkg/repository/object", "pkg/repository/report"},
	// hnc-sync applies compiled repositories. Deciding what to write is separate from reading Git and from the cluster.
	"pkg/reposync":         {"pkg/apis", "pkg/generated", "pkg/names", "pkg/reposync", "pkg/repository"},
	"pkg/reposync/git":     {},
	"pkg/reposync/plan":    {"pkg/apis", "pkg/repository"},
	"pkg/reposync/cluster": {"pkg/apis", "pkg/reposync/plan", "pkg/repository"},
	"pkg/reposync/writer":  {"pkg/reposync/cluster", "pkg/reposync/plan"},
	"pkg/reposync/preview": {"pkg/repository", "pkg/reposync/cluster", "pkg/reposync/plan"},
	"pkg/reposync/options": {"pkg/apis", "pkg/clientconfig", "pkg/generated", "pkg/reposync", "pkg/serving"},
	// The rules of the flags, as both servers report them.
	"pkg/inforce": {"pkg/apis", "pkg/copies", "pkg/managed"},
	// What the propagator decides, and the API server plans with.
	"pkg/propagator/conditions":    {},
	"pkg/propagator/tree":          {"pkg/apis", "pkg/forest", "pkg/managed"},
	"pkg/propagator/tree/treetest": {"pkg/apis", "pkg/managed", "pkg/propagator/tree"},
	"pkg/propagator/desired":       {"pkg/apis", "pkg/copies", "pkg/forest", "pkg/managed", "pkg/names", "pkg/propagator/tree"},
	"pkg/plan":                     {"pkg/apis", "pkg/copies", "pkg/propagator/desired", "pkg/propagator/tree"},
	// The fence knows comparisons and puts, not their meaning.
	"pkg/storage":          {},
	"pkg/storage/embedded": {},
	"pkg/registry":         {"pkg/access", "pkg/apis", "pkg/copies", "pkg/exceptions", "pkg/forest", "pkg/generated", "pkg/inforce", "pkg/kinds", "pkg/managed", "pkg/plan", "pkg/propagator/conditions", "pkg/propagator/tree", "pkg/quota", "pkg/storage"},
	"pkg/clientconfig":     {},
	"pkg/serving":          {},
	"pkg/memory":           {},
	"pkg/apiserver":        {"pkg/apis", "pkg/clientconfig", "pkg/copies", "pkg/forest", "pkg/generated", "pkg/inforce", "pkg/kinds", "pkg/managed", "pkg/registry", "pkg/storage"},
	// The propagator is a client: it knows the API, not how it is served. The cache knows neither queues nor controllers, and only the manager knows
	// all controllers.
	"pkg/propagator":                          {"pkg/apis", "pkg/copies", "pkg/generated", "pkg/inforce", "pkg/names", "pkg/propagator"},
	"pkg/propagator/client":                   {"pkg/apis", "pkg/copies", "pkg/wire"},
	"pkg/propagator/metrics":                  {},
	"pkg/propagator/certificates":             {"pkg/apis"},
	"pkg/propagator/outcome":                  {"pkg/apis", "pkg/copies", "pkg/propagator/metrics"},
	"pkg/propagator/parallel":                 {},
	"pkg/propagator/queue":                    {},
	"pkg/propagator/quotas":                   {"pkg/apis", "pkg/propagator/tree", "pkg/quota"},
	"pkg/propagator/cooldown":                 {},
	"pkg/propagator/cache":                    {"pkg/apis", "pkg/copies", "pkg/generated", "pkg/managed", "pkg/names", "pkg/propagator/client", "pkg/propagator/outcome", "pkg/propagator/quotas", "pkg/propagator/tree", "pkg/wire"},
	"pkg/propagator/controller":               {"pkg/generated", "pkg/propagator/cache", "pkg/propagator/metrics", "pkg/propagator/queue"},
	"pkg/propagator/controller/configuration": controllerImports("pkg/inforce", "pkg/kinds"),
	"pkg/propagator/controller/copies":        controllerImports("pkg/names"),
	"pkg/propagator/controller/copyrelease":   controllerImports("pkg/kinds", "pkg/names", "pkg/propagator/controller/configuration"),
	"pkg/propagator/controller/hierarchy":     controllerImports("pkg/propagator/cooldown"),
	"pkg/propagator/controller/namespace":     controllerImports("pkg/propagator/cooldown"),
	"pkg/propagator/controller/quota":         controllerImports("pkg/propagator/cooldown", "pkg/propagator/quotas", "pkg/quota"),
	"pkg/propagator/controller/restore":       controllerImports(),
	"pkg/propagator/controller/subnamespace": controllerImports("pkg/managed", "pkg/propagator/controller/copies", "pkg/propagator/controller/hierarchy",
		"pkg/propagator/controller/namespace", "pkg/propagator/controller/quota"),
	// Its health and metrics are served like those of any Kubernetes server.
	"pkg/propagator/options": {"pkg/apis", "pkg/clientconfig", "pkg/copies", "pkg/generated", "pkg/inforce", "pkg/propagator", "pkg/serving"},
	// It decides with the propagator's own code, and is run by the plugin.
	"pkg/propagator/observe": {"pkg/apis", "pkg/propagator"},
	"pkg/migration":          {"pkg/apis", "pkg/generated", "pkg/inforce", "pkg/names", "pkg/propagator/observe"},
	"cmd":                    {"pkg/apis", "pkg/apiserver", "pkg/generated", "pkg/memory", "pkg/propagator", "pkg/reposync/options", "pkg/storage/embedded"},
	// The plugin is an ordinary client: it shares only how annotations and names of kinds are parsed. The packages below it decide what it prints.
	"pkg/cli": {"pkg/apis", "pkg/cli/admins", "pkg/cli/adoption", "pkg/cli/diagnosis", "pkg/cli/origin", "pkg/cli/graph", "pkg/cli/preview", "pkg/cli/tree", "pkg/cli/treefile", "pkg/generated", "pkg/kinds", "pkg/managed", "pkg/migration", "pkg/names", "pkg/propagator/observe",
		"pkg/repository", "pkg/reposync/cluster", "pkg/reposync/plan", "pkg/reposync/preview", "pkg/reposync/writer", "pkg/ui"},
	// The server of the page knows no clients: the plugin reads for it.
	"pkg/ui":            {"pkg/apis", "pkg/cli/admins", "pkg/cli/origin"},
	"pkg/cli/tree":      {"pkg/apis", "pkg/names"},
	"pkg/cli/diagnosis": {"pkg/apis"},
	"pkg/cli/graph":     {"pkg/cli/tree", "pkg/names"},
	"pkg/cli/treefile":  {"pkg/cli/adoption"},
	"pkg/cli/admins":    {"pkg/apis"},
	"pkg/cli/adoption":  {"pkg/apis"},
	"pkg/cli/origin":    {"pkg/apis", "pkg/copies", "pkg/exceptions", "pkg/names"},
	"cmd/kubectl-hns":   {"pkg/cli"},
	// Nothing that runs in production imports these.
	"test": {"pkg"},
	"hack": {"pkg", "test"},
}

// controllerImports returns what every controller may import, and more.
func controllerImports(more ...string) []string {
	return append(more, "pkg/apis", "pkg/copies", "pkg/generated", "pkg/propagator/cache", "pkg/propagator/conditions", "pkg/propagator/controller", "pkg/propagator/desired",
		"pkg/propagator/metrics", "pkg/propagator/outcome", "pkg/propagator/parallel", "pkg/propagator/queue", "pkg/propagator/tree")
}

// restricted lists which of our packages may import packages of others that give a layer new abilities. Both sides are path prefixes.
var restricted = map[string][]string{
	// Writes that bypass the fence could commit a cycle.
	"go.etcd.io/etcd/client/v3": {"pkg/storage/fence", "test", "hack"},
	"go.etcd.io/etcd/server/":   {"pkg/storage/embedded", "test", "hack"},
	// The tree's data structure must not talk to servers.
	"k8s.io/client-go/": {"cmd", "hack", "pkg/apis", "pkg/apiserver", "pkg/cli", "pkg/clientconfig", "pkg/generated", "pkg/migration", "pkg/policy", "pkg/propagator", "pkg/registry", "pkg/reposync", "pkg/serving", "pkg/storage", "test"},
	"k8s.io/apiserver/": {"cmd", "hack", "pkg/apiserver", "pkg/policy", "pkg/propagator/observe", "pkg/propagator/options", "pkg/registry", "pkg/reposync/options", "pkg/serving", "pkg/storage", "test"},
	// Its default protocols run programs; see RestrictProtocols.
	"github.com/go-git/": {"pkg/reposync/git", "test"},
}

// pure lists the layers whose results depend on their arguments only, and impure the packages that would change that.
var (
	pure   = []string{"pkg/repository"}
	impure = []string{"log", "math/rand", "net", "os", "syscall", "time", "k8s.io/client-go", "k8s.io/klog"}
)

// pkg is the part of the output of `go list` that is used.
type pkg struct {
	ImportPath string
	Imports    []string
}

func main() {
	bad, err := check()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	for _, line := range bad {
		fmt.Println(line)
	}
	if len(bad) > 0 {
		os.Exit(1)
	}
}

// check returns a line for each import that is not allowed. Imports of tests are not checked.
func check() ([]string, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var bad []string
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return bad, nil
		} else if err != nil {
			return nil, err
		}
		path := strings.TrimPrefix(p.ImportPath, module)
		from := layer(path)
		if from == "" {
			bad = append(bad, fmt.Sprintf("%s belongs to no layer: give it one in hack/imports", path))
			continue
		}
		for _, imported := range p.Imports {
			if !permitted(path, from, imported) {
				bad = append(bad, fmt.Sprintf("%s imports %s", path, strings.TrimPrefix(imported, module)))
			}
		}
	}
}

// permitted reports whether the package path, of layer from, may import imported.
func permitted(path, from, imported string) bool {
	if ours, ok := strings.CutPrefix(imported, module); ok {
		to := layer(ours)
		return to != "" && (to == from || underAny(to, allowed[from]))
	}
	if underAny(path, pure) && underAny(imported, impure) {
		return false
	}
	for prefix, importers := range restricted {
		if strings.HasPrefix(imported, prefix) && !underAny(path, importers) {
			return false
		}
	}
	return true
}

// layer returns the longest layer that contains path, or "".
func layer(path string) string {
	longest := ""
	for prefix := range allowed {
		if under(path, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return longest
}

func under(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func underAny(path string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if under(path, prefix) {
			return true
		}
	}
	return false
}
