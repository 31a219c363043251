package install

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The external etcd keeps the hierarchies while nothing is installed: another installation has the same objects, and
// writes no namespace.
func TestAnExternalEtcdKeepsTheTrees(t *testing.T) {
	ctx := t.Context()
	access, err := cp.Etcd()
	if err != nil {
		t.Fatal(err)
	}
	servers := "--set=apiserver.etcd.servers={" + access.Endpoints[0] + "}"
	install(t, servers)
	if _, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "outer"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	inner := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "inner"}}
	if _, err := admin.HNC.HncV1beta1().Subnamespaces("outer").Create(ctx, inner, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var before string
	suite.Eventually(t, "the tree is complete", func() (err error) {
		before, err = identity(t)
		return err
	})

	uninstall := func() {
		t.Helper()
		stopServers(t)
		if _, err := command(t, "helm", "uninstall", "hns", "--namespace=hns-system"); err != nil {
			t.Fatal(err)
		}
	}
	uninstall()
	install(t, servers)
	suite.Eventually(t, "the tree is as before", func() error {
		after, err := identity(t)
		if err == nil && after != before {
			err = fmt.Errorf("got %s, want %s", after, before)
		}
		return err
	})
	uninstall()

	// Other tests have another store. Nothing may say that it has lost these trees.
	for _, name := range []string{"outer", "inner", controlplane.Namespace} {
		suite.Eventually(t, "kube-apiserver knows that the policies are gone", func() error {
			_, err := admin.CoreV1().Namespaces().Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":null,"annotations":null}}`), metav1.PatchOptions{})
			return err
		})
	}
}

// identity returns the identities of the namespaces outer and inner and of their objects of the hierarchy, and an error
// if they are no tree.
func identity(t *testing.T) (string, error) {
	t.Helper()
	ctx := t.Context()
	subnamespace, err := admin.HNC.HncV1beta1().Subnamespaces("outer").Get(ctx, "inner", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	found := fmt.Sprint(subnamespace.UID)
	for _, name := range []string{"outer", "inner"} {
		namespace, err := admin.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		hierarchy, err := admin.HNC.HncV1beta1().Hierarchies(name).Get(ctx, hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if _, ok := namespace.Labels[hnc.TreeLabel("outer")]; !ok || (hierarchy.Spec.Parent == "outer") != (name == "inner") {
			return "", fmt.Errorf("namespace %s has the labels %v and the parent %q", name, namespace.Labels, hierarchy.Spec.Parent)
		}
		found += fmt.Sprint(" ", namespace.UID, namespace.ResourceVersion, hierarchy.UID)
	}
	return found, nil
}
