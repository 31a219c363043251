// Package install tests the Helm chart and the kustomizations: that they are equal, that a cluster accepts them with
// many values, and that an installation can be removed without a trace in namespaces and copies. Helm is built by `make
// build`.
package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	root   = "../../.."
	binDir = root + "/_output/bin"
	chart  = root + "/artifacts/chart"
)

var (
	cp    *controlplane.ControlPlane
	admin suite.User
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(_ context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	admin, err = suite.NewUser("admin", cp.RESTConfig())
	return err
}

// command runs one of our binaries, or Helm with the value that the chart requires, as the administrator, and returns
// what it prints and its error, which contains the error output.
func command(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	if name == "helm" && args[0] == "install" {
		args = append(args, "--set=image.registry="+registry)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(binDir, name), args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cp.Kubeconfig(), "HOME="+home, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %v: %w: %s", name, args, err, stderr.String())
	}
	return string(out), err
}

// registry is the value that the chart requires.
const registry = "registry.example.com/test"

// helmTemplate renders the chart, with images that have no registry unless a value of args sets one, as the
// kustomizations do.
func helmTemplate(t *testing.T, args ...string) ([]*unstructured.Unstructured, error) {
	t.Helper()
	out, err := command(t, "helm", append([]string{"template", "hns", chart, "--namespace=hns-system", "--kube-version=1.37.1", "--set=image.registry=" + registry}, args...)...)
	out = strings.ReplaceAll(out, registry+"/", "")
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(out), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
