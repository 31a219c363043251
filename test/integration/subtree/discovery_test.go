package subtree

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	gadgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
)

func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "gadgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
}

// resource returns what discovery says of a resource of the group, as "Kind group/version verbs".
func resource(t *testing.T, name string) string {
	t.Helper()
	list, err := admin.Discovery().ServerResourcesForGroupVersion("resources.hnc.x-k8s.io/v1alpha2")
	if err != nil {
		return err.Error()
	}
	for _, r := range list.APIResources {
		if r.Name == name {
			return fmt.Sprint(r.Kind, " ", r.Group, "/", r.Version, " ", strings.Join(r.Verbs, ","), strings.Join(r.ShortNames, ","), r.Namespaced)
		}
	}
	return "none"
}

func TestDiscoveryFollowsTheKindsOfTheCluster(t *testing.T) {
	for name, want := range map[string]string{
		"configmaps":                           "ConfigMap /v1 list,watchtrue",
		"apps.deployments":                     "Deployment apps/v1 list,watchtrue",
		"autoscaling.horizontalpodautoscalers": "HorizontalPodAutoscaler autoscaling/v2 list,watchtrue",
		"hnc.x-k8s.io.hierarchies":             "Hierarchy hnc.x-k8s.io/v1beta1 list,watchtrue",
		"namespaces":                           "Namespace /v1 get,list,watchtrue",
		"nodes":                                "none",
		"bindings":                             "none",
		"pods/log":                             "none",
		"resources.hnc.x-k8s.io.pods":          "none",
	} {
		// Our own kinds are served a little later than we are.
		suite.EventuallyEqual(t, name, want, func() string { return resource(t, name) })
	}
	root, _, leaf := tree(t, "kinds")
	reader := person(t, "kinds")
	reader.grant(t, root, ask, "list watch gadgets.example.com")
	reader.grant(t, leaf, "list watch gadgets.example.com")
	_, err := admin.Dynamic.Resource(definitions).Create(t.Context(), definition(), metav1.CreateOptions{})
	must(t, "definition", err)
	suite.EventuallyEqual(t, "discovery", "Gadget example.com/v1 list,watchtrue", func() string { return resource(t, "example.com.gadgets") })
	for _, ns := range []string{root, leaf} {
		gadget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Gadget", "spec": map[string]any{"value": ns}}}
		gadget.SetName("g")
		gadget.SetLabels(map[string]string{"test": "g"})
		suite.EventuallyEqual(t, "gadget", "<nil>", func() string {
			_, err := admin.Dynamic.Resource(gadgets).Namespace(ns).Create(t.Context(), gadget, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				err = nil
			}
			return fmt.Sprint(err)
		})
	}
	suite.EventuallyEqual(t, "gadgets", "kinds-leaf/g kinds-root/g", func() string { return reader.listed(t, "example.com.gadgets", root, marked) })
	watched := reader.follow(t, "example.com.gadgets", root, marked)
	suite.EventuallyEqual(t, "gadgets watched", "kinds-leaf/g kinds-root/g", watched.String)

	must(t, "delete", admin.Dynamic.Resource(definitions).Delete(t.Context(), "gadgets.example.com", metav1.DeleteOptions{}))
	suite.EventuallyEqual(t, "discovery", "none", func() string { return resource(t, "example.com.gadgets") })
	if got := reader.listed(t, "example.com.gadgets", root, marked); !strings.Contains(got, "no namespaced resource example.com.gadgets") {
		t.Errorf("%s, want NotFound", got)
	}
}

// TestKubernetesOwnControllersAreNotDisturbed deletes a namespace and an owner. The namespace controller deletes what
// discovery says can be deleted, and the garbage collector watches it.
func TestKubernetesOwnControllersAreNotDisturbed(t *testing.T) {
	namespace(t, "own", "")
	configMap(t, "own", "owner")
	owner, err := admin.CoreV1().ConfigMaps("own").Get(t.Context(), "owner", metav1.GetOptions{})
	must(t, "owner", err)
	configMap(t, "own", "owned")
	owned, err := admin.CoreV1().ConfigMaps("own").Get(t.Context(), "owned", metav1.GetOptions{})
	must(t, "owned", err)
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}}
	_, err = admin.CoreV1().ConfigMaps("own").Update(t.Context(), owned, metav1.UpdateOptions{})
	must(t, "owned", err)
	must(t, "delete", admin.CoreV1().ConfigMaps("own").Delete(t.Context(), "owner", metav1.DeleteOptions{}))
	suite.EventuallyEqual(t, "garbage is collected", "true", func() string {
		_, err := admin.CoreV1().ConfigMaps("own").Get(t.Context(), "owned", metav1.GetOptions{})
		return fmt.Sprint(apierrors.IsNotFound(err))
	})
	must(t, "delete", admin.CoreV1().Namespaces().Delete(t.Context(), "own", metav1.DeleteOptions{}))
	suite.EventuallyEqual(t, "namespace is deleted", "true", func() string {
		_, err := admin.CoreV1().Namespaces().Get(t.Context(), "own", metav1.GetOptions{})
		return fmt.Sprint(apierrors.IsNotFound(err))
	})
}

// kubectl runs kubectl and returns all that it prints.
func (u user) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	out, err := exec.CommandContext(ctx, binDir+"/kubectl", append([]string{"--kubeconfig=" + u.kubeconfig, "--cache-dir=" + t.TempDir()}, args...)...).CombinedOutput()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}

func TestKubectl(t *testing.T) {
	root, mid, leaf := tree(t, "kubectl")
	for _, ns := range []string{root, mid, leaf} {
		configMap(t, ns, "a")
	}
	reader := person(t, "kubectl")
	reader.grantAll(t, ask, "list watch get configmaps,deployments.apps,namespaces")
	suite.EventuallyEqual(t, "list", "kubectl-leaf/a kubectl-mid/a kubectl-root/a", func() string { return reader.listed(t, "configmaps", root, marked) })

	suite.EventuallyEqual(t, "kubectl knows it", "true", func() string {
		return fmt.Sprint(strings.Contains(reader.kubectl(t, "api-resources", "--api-group=resources.hnc.x-k8s.io"), "apps.deployments"))
	})
	for _, name := range []string{"configmaps.resources.hnc.x-k8s.io", "configmaps.v1alpha2.resources.hnc.x-k8s.io"} {
		lines := strings.Split(strings.TrimSpace(reader.kubectl(t, "get", name, "-n", root, "-l", "test", "--no-headers")), "\n")
		if len(lines) != 3 || !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "a ") }) {
			t.Errorf("%s: %q, want three rows", name, lines)
		}
	}
	// Everybody's everyday commands mean what they meant, and warn of nothing.
	for _, name := range []string{"configmaps", "configmap", "cm", "ConfigMap"} {
		if out := reader.kubectl(t, "get", name, "-n", root, "-l", "test", "-o", "name"); out != "configmap/a\n" {
			t.Errorf("%s: %q", name, out)
		}
	}
	for _, name := range []string{"namespaces", "namespace", "ns"} {
		if out := reader.kubectl(t, "get", name, root, "-o", "name"); out != "namespace/"+root+"\n" {
			t.Errorf("%s: %q", name, out)
		}
	}
	for _, name := range []string{"deploy", "deployment", "deployments", "deployments.apps"} {
		if out := reader.kubectl(t, "get", name, "-n", root); out != "No resources found in kubectl-root namespace.\n" {
			t.Errorf("%s: %q", name, out)
		}
	}
}
