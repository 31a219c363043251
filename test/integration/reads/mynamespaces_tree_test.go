package reads

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestMynamespacesShowTheTree(t *testing.T) {
	namespaces(t, "shown", "shown-child")
	setParent(t, "shown-child", "shown")
	subnamespace(t, "shown-child", "shown-sub")
	bind(t, "shown-child", "view", "dora") // and so below
	dora := newUser(t, "dora")
	kubectl := func(args ...string) string {
		kubeconfig, err := dora.kubeconfig(t)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), filepath.Join(binDir, "kubectl"), append([]string{"--kubeconfig=" + kubeconfig}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v: %s", args, err, out)
		}
		var lines []string
		for line := range strings.Lines(string(out)) {
			if fields := strings.Fields(line); len(fields) > 1 {
				fields = fields[:len(fields)-1] // the age
				line = strings.Join(fields, " ")
			}
			lines = append(lines, strings.TrimSpace(line))
		}
		return strings.Join(lines, "\n")
	}
	want := `NAME PARENT DEPTH ROOT STATUS
shown-child shown 1 shown Active
shown-sub shown-child 2 shown Active`
	suite.Eventually(t, "the table", func() error {
		if got := kubectl("get", "mynamespaces"); got != want {
			return fmt.Errorf("got\n%s\nwant\n%s", got, want)
		}
		return nil
	})
	if got, want := kubectl("get", "myns", "-l", "shown-sub.tree.hnc.x-k8s.io/depth", "--no-headers"), "shown-sub shown-child 2 shown Active"; got != want {
		t.Errorf("by label: got %q, want %q", got, want)
	}
	if got, err := dora.names(t, metav1.ListOptions{FieldSelector: "metadata.name=shown-sub"}); got != "shown-sub" {
		t.Errorf("by name: got %q, %v", got, err)
	}
	if _, err := dora.names(t, metav1.ListOptions{FieldSelector: "status.root=shown"}); !apierrors.IsBadRequest(err) {
		t.Errorf("by a field that can't be selected: %v", err)
	}
	// A limit is not kept: all is in the answer.
	if got, err := dora.names(t, metav1.ListOptions{Limit: 1}); got != "shown-child shown-sub" {
		t.Errorf("with a limit: got %q, %v", got, err)
	}
	err := retry.RetryOnConflict(suite.Backoff, func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), "shown-sub", metav1.GetOptions{})
		if err == nil {
			ns.Labels["color"] = "red"
			_, err = root.CoreV1().Namespaces().Update(t.Context(), ns, metav1.UpdateOptions{})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "a new label", func() error {
		if got, err := dora.names(t, metav1.ListOptions{LabelSelector: "color=red"}); got != "shown-sub" {
			return fmt.Errorf("got %q, %w", got, err)
		}
		return nil
	})
}
