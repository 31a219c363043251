package restore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/pages"
)

// TestManifests saves a tree with kubectl get -o yaml, deletes it, and applies the manifests in the order of Velero:
// the namespaces with all their labels, then the other kinds in the order of their names, with the deleted namespaces
// as owners. At first, only a child is restored, without its parent.
func TestManifests(t *testing.T) {
	fresh(t)
	namespace(t, "vel")
	namespace(t, "vel-full")
	source(t, "vel")
	setParent(t, "vel-full", "vel")
	if _, err := root.HNC.HncV1beta1().Subnamespaces("vel").Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: "vel", Name: "vel-sub"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	quota(t, "vel")
	propagate(t, `[{"resource":"limitranges","mode":"Propagate"}]`)
	eventuallyBelow(t, "vel-full", "vel", "red")
	eventuallyBelow(t, "vel-sub", "vel", "red")
	names := []string{"vel", "vel-full", "vel-sub"}
	// One namespace is saved in HNC's version.
	hierarchies := map[string]string{"vel-full": "hierarchyconfigurations.v1alpha2.hnc.x-k8s.io"}
	saved := map[string]string{}
	for _, name := range names {
		resource := hierarchies[name]
		if resource == "" {
			resource = "hierarchies"
		}
		saved["namespace "+name] = get(t, "namespace", name)
		for _, resource := range []string{"rolebindings", resource, "subnamespaces"} {
			kind := strings.Replace(resource, "hierarchyconfigurations.v1alpha2.hnc.x-k8s.io", "hierarchies", 1)
			saved[kind+" "+name] = get(t, resource, "-n", name)
		}
	}
	quotas, configuration := get(t, "hierarchicalresourcequotas.v1alpha2.hnc.x-k8s.io", "-n", "vel"), get(t, "hncconfigurations")
	propagate(t, `[]`)
	deleteTree(t, names)

	// A child without its parent.
	apply(t, saved["namespace vel-full"], "")
	apply(t, saved["hierarchies vel-full"], "")
	apply(t, saved["rolebindings vel-full"], "'copies.hnc.x-k8s.io' denied")
	suite.Eventually(t, "the missing parent is reported", func() error {
		h, err := root.HNC.HncV1beta1().Hierarchies("vel-full").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range h.Status.Details() {
			if c.Reason == hnc.ReasonParentMissing && c.Status == metav1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("conditions %+v", h.Status.Conditions)
	})
	before := uids(t, "vel-full")

	// The rest.
	apply(t, saved["namespace vel"], "")
	apply(t, saved["namespace vel-sub"], "")
	apply(t, quotas, "")
	apply(t, saved["hierarchies vel"], "")
	apply(t, saved["hierarchies vel-sub"], "")
	apply(t, configuration, "")
	apply(t, saved["rolebindings vel"], "")
	apply(t, saved["rolebindings vel-sub"], "'copies.hnc.x-k8s.io' denied")
	apply(t, saved["subnamespaces vel"], "")
	apply(t, saved["subnamespaces vel-sub"], "")
	eventuallyBelow(t, "vel-full", "vel", "red")
	eventuallyBelow(t, "vel-sub", "vel", "red")
	suite.Eventually(t, "the Subnamespace is ready", func() error {
		s, err := root.HNC.HncV1beta1().Subnamespaces("vel").Get(t.Context(), "vel-sub", metav1.GetOptions{})
		if err == nil && s.Status.State != v1beta1.SubnamespaceOk {
			err = errors.New(string(s.Status.State))
		}
		return err
	})
	suite.Eventually(t, "the quota is in force, and the kind is propagated", func() error {
		q, err := root.HNC.HncV1beta1().HierarchicalResourceQuotas("vel").Get(t.Context(), "vel", metav1.GetOptions{})
		if err != nil {
			return err
		}
		held, err := root.CoreV1().ResourceQuotas("vel-sub").List(t.Context(), metav1.ListOptions{LabelSelector: hnc.LabelQuota})
		if err != nil {
			return err
		}
		c, err := root.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if hard := q.Spec.Hard[corev1.ResourceServices]; hard.Value() != 7 || len(held.Items) != 1 || len(c.Spec.Resources) != 1 {
			return fmt.Errorf("%+v, %d ResourceQuotas, %+v", q.Spec, len(held.Items), c.Spec)
		}
		return nil
	})
	if gone := lost(before, uids(t, "vel-full")); len(gone) > 0 {
		t.Errorf("deleted: %v", gone)
	}
	if reason := paused(t); reason != "" {
		t.Errorf("paused: %s", reason)
	}
}

// TestDocumentedManifests runs the commands of docs/backup.md, after tenants have given a namespace managed fields of more levels
// than kubectl decodes, and filled annotations.
func TestDocumentedManifests(t *testing.T) {
	fresh(t)
	names := []string{"man", "man-full"}
	namespace(t, "man")
	namespace(t, "man-full")
	source(t, "man")
	setParent(t, "man-full", "man")
	eventuallyBelow(t, "man-full", "man", "none")
	suite.Eventually(t, "the namespace is updated", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), "man", metav1.GetOptions{})
		if err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&ns.ObjectMeta, "filled", strings.Repeat("x", 200<<10))
		ns.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "tenant", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:a":`, 9_998) + "{}" + strings.Repeat("}", 9_998)),
		}}
		_, err = root.CoreV1().Namespaces().Update(t.Context(), ns, metav1.UpdateOptions{})
		return err
	})
	if _, err := root.HNC.HncV1beta1().Hierarchies("man-full").Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(`{"metadata":{"annotations":{"filled":"`+strings.Repeat("x", 40<<10)+`"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	page, err := pages.Read("../../../docs/backup.md")
	if err != nil {
		t.Fatal(err)
	}
	block := slices.IndexFunc(page.Blocks, func(b *pages.Block) bool { return strings.HasPrefix(b.Text, "# the backup\n") })
	save, restore, _ := strings.Cut(page.Blocks[block].Text, "# the restore\n")
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	runner := pages.Runner{Dir: t.TempDir(), Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "KUBECONFIG=" + cp.Kubeconfig(), "KUBERC=off"}}
	commands := func(text string) { runner.Run(t, &pages.Page{Blocks: []*pages.Block{{Kind: pages.Shell, Text: text}}}) }
	if out, code := run(t, "", "kubectl", "get", "namespaces", "-o", "yaml"); code == 0 || !strings.Contains(out, "exceeded max depth") {
		t.Errorf("exit code %d: %s", code, out)
	}
	commands(page.Blocks[block+1].Text)
	commands(save)
	deleteTree(t, names)
	// It would end as soon as it finds the checkpoint of the backup.
	stop(t, propagator.Name)
	commands(restore)
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), "man", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := root.HNC.HncV1beta1().Hierarchies("man-full").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if parent := h.Spec.Parent; parent != "man" || len(ns.Annotations["filled"]) != 200<<10 || len(h.Annotations["filled"]) != 40<<10 {
		t.Errorf("the parent is %q, and the annotations have %d and %d bytes", parent, len(ns.Annotations["filled"]), len(h.Annotations["filled"]))
	}
}

// propagate sets the kinds in the configuration.
func propagate(t *testing.T, resources string) {
	t.Helper()
	patch := []byte(`{"spec":{"resources":` + resources + `}}`)
	if _, err := root.HNC.HncV1beta1().HNCConfigurations().Patch(t.Context(), hnc.ConfigurationName, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, args ...string) string {
	t.Helper()
	out, code := run(t, "", "kubectl", append([]string{"get", "-o", "yaml"}, args...)...)
	if code != 0 {
		t.Fatal(out)
	}
	return identity.ReplaceAllString(out, "")
}

// identity matches what a manifest says about the deleted object itself. kubectl apply rejects it where the propagator
// has created a hierarchy already.
var identity = regexp.MustCompile(`(?m)^(  |    )(uid|resourceVersion): .*\n`)

// apply applies manifests, and expects that they are rejected for a reason unless that is "".
func apply(t *testing.T, manifests, rejected string) {
	t.Helper()
	if strings.Contains(manifests, "items: []") {
		return
	}
	out, code := run(t, manifests, "kubectl", "apply", "-f", "-")
	if (code != 0) != (rejected != "") || !strings.Contains(out, rejected) {
		t.Fatalf("exit code %d, want %q:\n%s", code, rejected, out)
	}
}

// deleteTree deletes a root and its child, which come first, with the sub-namespaces that follow.
func deleteTree(t *testing.T, names []string) {
	t.Helper()
	client := root.HNC.HncV1beta1().Hierarchies(names[0])
	if _, err := client.Create(t.Context(), &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: names[0], Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{AllowCascadingDeletion: ptr.To(true)},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range names[:2] {
		suite.Eventually(t, "the deletion is accepted", func() error { return root.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}) })
	}
	for _, name := range names {
		suite.Eventually(t, name+" is gone", func() error {
			if _, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("not yet: %w", err)
			}
			return nil
		})
	}
}
