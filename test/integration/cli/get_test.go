package cli

import (
	"bufio"
	"context"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestGet(t *testing.T) {
	namespace(t, "list", "")
	subnamespace(t, "list-a", "list")
	bind(t, "list", "view")
	s := newScript(t, root)
	s.until("list-a      alice-view", "get", "rolebindings", "-n", "list")
	s.run("get", "rolebinding", "-n", "list-a")
	s.run("get", "rolebindings.rbac.authorization.k8s.io", "-n", "list", "-o", "name")
	s.run("get", "pods", "-n", "list")
	s.run("get", "rolebindings", "-n", "no-such")
	s.as("alice, who may view list and what is below it", alice)
	s.run("get", "pods", "-n", "list")
	s.run("get", "rolebindings", "-n", "list")
	s.as("bob, who has no permissions", bob)
	s.run("get", "pods", "-n", "list")
}

func TestGetWatches(t *testing.T) {
	namespace(t, "seen", "")
	subnamespace(t, "seen-a", "seen")
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	command := root.command(ctx, "get", "configmaps", "-n", "seen", "-l", "shown", "--watch", "-o", "name")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for _, ns := range []string{"seen", "seen-a"} {
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "in-" + ns, Labels: map[string]string{"shown": ""}}}
		if _, err := kube.CoreV1().ConfigMaps(ns).Create(ctx, c, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	shown := map[string]bool{}
	for lines := bufio.NewScanner(out); len(shown) < 2 && lines.Scan(); {
		shown[lines.Text()] = true
	}
	if !shown["seen/configmap/in-seen"] || !shown["seen-a/configmap/in-seen-a"] {
		t.Errorf("got %v", shown)
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 130 {
		t.Errorf("a watch that is interrupted ends with exit code %d, want 130", code)
	}
}
