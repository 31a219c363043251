// Command kubectl-hns is the plugin `kubectl hns`.
package main

import (
	"os"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
)

// version is set by the build.
var version = "(UNKNOWN)"

func main() { os.Exit(cli.Run(version)) }
