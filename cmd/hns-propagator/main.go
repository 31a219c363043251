// Command hns-propagator reconciles namespaces and their objects with the hierarchies.
package main

import (
	"os"

	"k8s.io/component-base/cli"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/cmd/hns-propagator/app"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/gctuning"
)

// version is set by the build.
var version = "(UNKNOWN)"

func main() {
	gctuning.Tune()
	os.Exit(cli.Run(app.NewCommand(version)))
}
