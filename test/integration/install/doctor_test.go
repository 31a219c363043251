package install

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// doctor returns the output and the exit code of kubectl hns doctor.
func doctor(t *testing.T) (string, int) {
	t.Helper()
	out, err := command(t, "kubectl-hns", "doctor", "--quiet")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return out, exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, 0
}

// diagnose checks that a new installation has no problems, and that the doctor finds the ones that are made.
func diagnose(t *testing.T) {
	t.Helper()
	suite.EventuallyEqual(t, "a healthy installation", "0 ", func() string {
		out, code := doctor(t)
		return fmt.Sprint(code, " ", out)
	})
	bindings := admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	binding, err := bindings.Get(t.Context(), "copies.hnc.x-k8s.io", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bindings.Delete(t.Context(), binding.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if out, code := doctor(t); code != 3 || !strings.Contains(out, "error    validatingadmissionpolicybindings: missing") || !strings.Contains(out, "-> apply") {
		t.Errorf("without a binding: exit code %d\n%s", code, out)
	}
	binding.ResourceVersion, binding.UID = "", ""
	if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	withoutAPermission(t, "hns-propagator:kinds", "warning  permissions of hns-propagator: missing for configured kinds: list configmaps, watch configmaps", 2)
	withoutAPermission(t, "hns-apiserver:auth-delegator", "error    permissions of hns-apiserver: missing: create tokenreviews.authentication.k8s.io, create subjectaccessreviews.authorization.k8s.io", 3)
	// A kind that does not exist is a condition of the configuration.
	configure := func(resources string) {
		t.Helper()
		if _, err := admin.HNC.HncV1beta1().HNCConfigurations().Patch(t.Context(), "config", types.MergePatchType,
			[]byte(`{"spec":{"resources":`+resources+`}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	configure(`[{"resource":"configmaps"},{"resource":"pods"}]`)
	suite.Eventually(t, "a warning", func() error {
		if out, code := doctor(t); code != 2 || !strings.Contains(out, "warning  hncconfiguration config: OutOfSync") {
			return fmt.Errorf("exit code %d: %s", code, out)
		}
		return nil
	})
	configure(`[{"resource":"configmaps"}]`)
}

// withoutAPermission checks that the doctor finds a missing ClusterRoleBinding of a server, and names the permission
// and what to do.
func withoutAPermission(t *testing.T, name, want string, wantCode int) {
	t.Helper()
	bindings := admin.RbacV1().ClusterRoleBindings()
	binding, err := bindings.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bindings.Delete(t.Context(), binding.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "a missing permission", func() error {
		if out, code := doctor(t); code != wantCode || !strings.Contains(out, want) {
			return fmt.Errorf("exit code %d: %s", code, out)
		}
		return nil
	})
	binding.ResourceVersion, binding.UID = "", ""
	if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// diagnoseLag checks that the doctor finds a namespace that hns-propagator, which does not run, does not label.
func diagnoseLag(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if _, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hierarchies := admin.HNC.HncV1beta1().Hierarchies("late")
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: "parent"}}
	if _, err := hierarchies.Create(ctx, h, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if out, code := doctor(t); code != 3 || !strings.Contains(out, "warning  propagation: 1 namespaces do not have the labels of their trees yet: late") ||
		!strings.Contains(out, "error    lease hns-propagator: no replica of hns-propagator leads") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if err := hierarchies.Delete(ctx, hnc.Singleton, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
