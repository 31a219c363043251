// Command kubectl-hns is the plugin `kubectl hns`.
package main

import (
	"os"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
)

// version is stamped by the release build.
var version string

func main() { os.Exit(cli.Run(version)) }
