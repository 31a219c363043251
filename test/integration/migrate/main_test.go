// Package migrate tests the migration from HNC: a cluster as HNC leaves it, by docs/spec/hnc.md, is migrated by kubectl
// hns migrate, which is killed at every step, rolled back and repeated.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
)

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	admin        suite.User
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

// setUp installs HNC's definitions and namespace and, beside them, our servers.
func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if admin, err = suite.NewUser("admin", cp.RESTConfig()); err != nil {
		return err
	}
	if installation, err = cp.Install(ctx, "testdata/beside-hnc"); err != nil {
		return err
	}
	objects, err := manifests("testdata/hnc.yaml", func(kind string) bool { return kind == "CustomResourceDefinition" || kind == "Namespace" })
	if err != nil {
		return err
	}
	if err := cp.Apply(ctx, objects); err != nil {
		return err
	}
	return suite.Start(ctx, cp, installation, controlplane.Server{Name: "hns-apiserver"})
}

// manifests reads the objects of some kinds.
func manifests(path string, wanted func(kind string) bool) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(object.Object) > 0 && wanted(object.GetKind()) {
			objects = append(objects, object)
		}
	}
}
