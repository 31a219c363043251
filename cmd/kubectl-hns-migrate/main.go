// Command kubectl-hns-migrate is the plugin `kubectl hns migrate`.
package main

import (
	"os"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/migrate"
)

// version is set by the build.
var version = "(UNKNOWN)"

func main() { os.Exit(cli.Main(version, migrate.NewCommand)) }
