package install

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
