package hnc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// forest has a namespace and its parent on each line. Those with a plus are sub-namespaces.
const forest = `
acme
+acme-shop acme
+acme-shop-cart acme-shop
+acme-shop-cart-dev acme-shop-cart
+acme-pos acme
+acme-conv acme
acme-ops acme
+acme-ops-ci acme-ops
globex
globex-web globex
globex-db globex
+globex-web-a globex-web
+globex-web-b globex-web
+globex-web-a-x globex-web-a
umbrella
umbrella-secure umbrella
+umbrella-branch-1 umbrella
+umbrella-branch-1-a umbrella-branch-1
legacy
legacy-1 legacy
gone
stray gone
+stray-sub stray
monitoring globex
monitoring-x monitoring
`

// teams is how many more sub-namespaces acme-shop has, with one below each.
const teams = 8

// special is what the namespaces and objects have that the migration has to treat in a special way.
const (
	converted = "acme-conv"
	vanished  = "gone"
	excluded  = "monitoring"
)

// flags are HNC's flags for rules, which it has from the start, and excludes one that it has when the forest is there.
func flags(t *testing.T) []string {
	t.Helper()
	all := []string{"--unpropagated-annotation=example.com/checksum"}
	if since(t, "1.0") {
		all = append(all, `--managed-namespace-label=cost\.example\.com/.*`, `--managed-namespace-annotation=contact\.example\.com/.*`)
	}
	return all
}

const excludes = "--excluded-namespace=" + excluded

var (
	hierarchies = schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchyconfigurations"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// plant builds the forest with HNC's API.
func plant(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	repeat(t, "testdata/definitions.yaml")
	lines := strings.Split(strings.TrimSpace(forest), "\n")
	for i := range teams {
		lines = append(lines, fmt.Sprintf("+acme-team-%d acme-shop", i), fmt.Sprintf("+acme-team-%d-dev acme-team-%d", i, i))
	}
	for _, line := range lines {
		name, parent, _ := strings.Cut(line, " ")
		name, sub := strings.CutPrefix(name, "+")
		if sub {
			anchor := object("SubnamespaceAnchor", parent, name)
			suite.Eventually(t, "anchor "+name, func() error {
				_, err := admin.Dynamic.Resource(hierarchies.GroupVersion().WithResource("subnamespaceanchors")).Namespace(parent).Create(ctx, anchor, metav1.CreateOptions{})
				return existing(err)
			})
			continue
		}
		suite.Eventually(t, "namespace "+name, func() error {
			_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return existing(err)
		})
		if parent == "" {
			continue
		}
		hierarchy := object("HierarchyConfiguration", name, hnc.Singleton)
		hierarchy.Object["spec"] = map[string]any{"parent": parent}
		suite.Eventually(t, "hierarchy of "+name, func() error {
			_, err := admin.Dynamic.Resource(hierarchies).Namespace(name).Apply(ctx, hnc.Singleton, hierarchy, metav1.ApplyOptions{FieldManager: "test", Force: true})
			return err
		})
	}
	mode := "Ignore" // In mode Propagate, the ServiceAccounts default of parents would overwrite those of their children.
	if since(t, "1.1") {
		mode = "AllowPropagate"
		repeat(t, "testdata/quotas.yaml")
	}
	repeat(t, "testdata/settings.yaml", "OPTIONAL", mode)
	if since(t, "1.0") {
		repeat(t, "testdata/labels.yaml")
	}
	for _, line := range lines {
		// HNC rejects changes of copies.
		if name, parent, _ := strings.Cut(line, " "); parent == "" && name != vanished || parent == vanished {
			source(t, name)
		}
	}
	for _, change := range []struct{ namespace, patch string }{
		{"acme-shop", `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`},
		{converted, `{"metadata":{"annotations":{"hnc.x-k8s.io/subnamespace-of":null}}}`},
	} {
		suite.Eventually(t, change.namespace, func() error {
			_, err := admin.CoreV1().Namespaces().Patch(ctx, change.namespace, types.MergePatchType, []byte(change.patch), metav1.PatchOptions{})
			return err
		})
	}
	suite.Eventually(t, vanished, func() error {
		err := admin.CoreV1().Namespaces().Delete(ctx, vanished, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it exists"))
	})
}

// source creates the objects that are propagated from a root.
func source(t *testing.T, root string) {
	t.Helper()
	replace := []string{"ROOT", root}
	if !since(t, "1.1") {
		replace = append(replace, "propagate.hnc.x-k8s.io/all", "example.com/all")
	}
	repeat(t, "testdata/policy.yaml", replace...)
}

// repeat applies a file with some words replaced, as users do, until HNC has got as far as to accept it.
func repeat(t *testing.T, file string, replace ...string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(replace...).Replace(string(content))
	suite.Eventually(t, file, func() error {
		_, err := execute(t, "kubectl apply -f -", text, "")
		return err
	})
}

func object(kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: hnc.GroupName, Version: "v1alpha2", Kind: kind})
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func existing(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
