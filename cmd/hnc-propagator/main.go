// Command hnc-propagator makes the cluster look as its namespace hierarchies say.
package main

import (
	"os"

	"k8s.io/component-base/cli"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/cmd/hnc-propagator/app"
)

// version is set by the build.
var version = "(UNKNOWN)"

func main() {
	os.Exit(cli.Run(app.NewCommand(version)))
}
