// Command kubectl-hns-repo is the plugin `kubectl hns repo`.
package main

import (
	"os"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/repo"
)

// version is set by the build.
var version = "(UNKNOWN)"

func main() { os.Exit(cli.Main(version, repo.NewCommand)) }
