// Package propagation tests what the propagator makes of a cluster. kube-apiserver and hns-apiserver are processes. The
// propagator runs in the process of the tests, which restart it, record its writes, and make its requests fail. The
// admission policies are not installed, so that tests can change copies and tree labels.
package propagation

import (
	"context"
	"fmt"
	"os"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const binDir = "../../../_output/bin"

var (
	// admin is of the group system:masters.
	admin suite.User
	// propagatorConfig authenticates as the propagator.
	propagatorConfig *rest.Config
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, cp *controlplane.ControlPlane) error {
	var err error
	if admin, err = suite.NewUser("admin", cp.RESTConfig()); err != nil {
		return err
	}
	// Many tests create Subnamespaces while no propagator runs.
	server := controlplane.Server{Name: "hns-apiserver", Args: []string{"--ready-timeout=0s"}}
	if _, err := suite.Install(ctx, cp, suite.Artifacts[:1], server); err != nil {
		return err
	}
	if propagatorConfig, _, err = cp.ServiceAccount(ctx, controlplane.Namespace, "hns-propagator"); err != nil {
		return err
	}
	clientconfig.SetDefaults(propagatorConfig)
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "example-kinds", Labels: map[string]string{hnc.LabelAggregateToPropagator: "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
	}
	if _, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	return define(ctx, "Widget")
}

// define installs a kind of the group example.com.
func define(ctx context.Context, kind string) error {
	singular := lower(kind)
	plural := singular + "s"
	_, err := admin.Dynamic.Resource(resources["customresourcedefinitions"]).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + ".example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": plural, "singular": singular, "kind": kind, "listKind": kind + "List"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("defining %s: %w", kind, err)
	}
	return nil
}

// undefine removes a kind of the group example.com.
func undefine(ctx context.Context, kind string) error {
	return admin.Dynamic.Resource(resources["customresourcedefinitions"]).Delete(ctx, lower(kind)+"s.example.com", metav1.DeleteOptions{})
}
