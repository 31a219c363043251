package main

import (
	"os/exec"
	"strings"
	"testing"
)

func TestThePluginLinksNeitherThePropagatorNorGit(t *testing.T) {
	const module = "github.com/hierarchy-apiserver/hierarchy-apiserver/"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.Lines(string(out)) {
		pkg = strings.TrimSpace(pkg)
		for _, heavy := range []string{"github.com/go-git", module + "pkg/propagator", module + "pkg/reposync"} {
			if strings.HasPrefix(pkg+"/", heavy+"/") {
				t.Errorf("kubectl-hns links %s; let kubectl-hns-repo or kubectl-hns-migrate do what needs it", pkg)
			}
		}
	}
}
