package view

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// kubelet answers for the containers of a node: what is written to one is what is read from it. The log of a
// container has a second line when more is closed.
type kubelet struct{ more chan struct{} }

func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/containerLogs/") {
		_, _ = io.WriteString(w, "one\n")
		w.(http.Flusher).Flush()
		select {
		case <-k.more:
			_, _ = io.WriteString(w, "two\n")
		case <-r.Context().Done():
		}
		return
	}
	streams := make(chan httpstream.Stream, 8)
	httpstream.Handshake(r, w, []string{"v4.channel.k8s.io", "portforward.k8s.io"}) //nolint:errcheck // An unknown protocol fails the test.
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		streams <- s
		return nil
	})
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }()
	named := map[string]httpstream.Stream{}
	for {
		select {
		case s := <-streams:
			name := s.Headers().Get(corev1.StreamType)
			if name == corev1.StreamTypeData {
				go func() { _, _ = io.Copy(s, s); _ = s.Close() }()
			}
			named[name] = s
			if in, out, failure := named[corev1.StreamTypeStdin], named[corev1.StreamTypeStdout], named[corev1.StreamTypeError]; in != nil && out != nil && failure != nil {
				_, _ = io.Copy(out, in)
				_, _ = io.WriteString(failure, `{"status":"Success"}`)
				_ = failure.Close()
				return
			}
		case <-conn.CloseChan():
			return
		}
	}
}

// pod creates a pod on a node of a kubelet.
func (k *kubelet) pod(t *testing.T, ns string) {
	t.Helper()
	server := httptest.NewTLSServer(k)
	t.Cleanup(server.Close)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(server.Listener.Addr().(*net.TCPAddr).Port)
	created, err := admin.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	must(t, "node", err)
	created.Status = node.Status
	suite.Eventually(t, "status of the node", func() error {
		latest, err := admin.CoreV1().Nodes().Get(t.Context(), ns, metav1.GetOptions{})
		if err != nil {
			return err
		}
		latest.Status = node.Status
		_, err = admin.CoreV1().Nodes().UpdateStatus(t.Context(), latest, metav1.UpdateOptions{})
		return err
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		NodeName: ns, AutomountServiceAccountToken: ptr.To(false), Containers: []corev1.Container{{Name: "c", Image: "none"}},
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
	}}
	suite.Eventually(t, "pod", func() error {
		_, err := admin.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
	pod, err = admin.CoreV1().Pods(ns).Get(t.Context(), "p", metav1.GetOptions{})
	must(t, "pod", err)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}
	_, err = admin.CoreV1().Pods(ns).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	must(t, "status", err)
}

// kubectl returns a command in the tenant's view.
func (tn *tenant) kubectl(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), append([]string{"--kubeconfig", tn.viewed}, args...)...)
}

func TestStreamsPassThroughAView(t *testing.T) {
	tn := newTenant(t, "streams")
	streams(t, tn, tn.root)
}

func TestStreamsPassThroughTheGateway(t *testing.T) {
	streams(t, newUser(t, "streamed"), "default")
}

// streams opens all kinds of streams to a pod in the root, which the view shows as ns.
func streams(t *testing.T, tn *tenant, ns string) {
	t.Helper()
	k := &kubelet{more: make(chan struct{})}
	k.pod(t, tn.root)
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()

	logs, err := tn.view.CoreV1().Pods(ns).GetLogs("p", &corev1.PodLogOptions{Follow: true}).Stream(ctx)
	must(t, "logs", err)
	lines := bufio.NewReader(logs)
	if line, err := lines.ReadString('\n'); line != "one\n" {
		t.Errorf("the first line of the log is %q, %v", line, err)
	}
	close(k.more)
	if line, err := lines.ReadString('\n'); line != "two\n" {
		t.Errorf("the second line of the log is %q, %v", line, err)
	}
	_ = logs.Close()

	for _, args := range [][]string{{"exec", "-n", ns, "-i", "p", "--", "cat"}, {"attach", "-n", ns, "-i", "p"}} {
		for _, env := range []string{"KUBECTL_REMOTE_COMMAND_WEBSOCKETS=true", "KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false"} {
			command := tn.kubectl(ctx, args...)
			command.Env = append(command.Environ(), env)
			command.Stdin = strings.NewReader("hello\n")
			var out, stderr bytes.Buffer
			command.Stdout, command.Stderr = &out, &stderr
			if err := command.Run(); err != nil || out.String() != "hello\n" {
				t.Errorf("%s with %s: got %q, %v %s", args[0], env, out.String(), err, stderr.String())
			}
		}
	}

	forward := tn.kubectl(ctx, "port-forward", "-n", ns, "p", ":80")
	out, err := forward.StdoutPipe()
	must(t, "pipe", err)
	must(t, "port-forward", forward.Start())
	first, err := bufio.NewReader(out).ReadString('\n')
	must(t, "port-forward", err)
	port := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(first)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", port)
	must(t, fmt.Sprintf("dial %q of %q", port, first), err)
	_, err = io.WriteString(conn, "hello\n")
	must(t, "write", err)
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "hello\n" {
		t.Errorf("the port answers %q, %v", line, err)
	}
	_ = conn.Close()
	cancel()
	_ = forward.Wait()
}

// The stream of a namespace that leaves ends; the shell in its container is not that of the tenant any more.
func TestStreamsOfANamespaceThatLeavesEnd(t *testing.T) {
	tn, other := newTenant(t, "ends"), newTenant(t, "ends-to")
	child(t, "ends-a", tn.root)
	k := &kubelet{more: make(chan struct{})}
	k.pod(t, "ends-a")
	suite.Eventually(t, "permissions", func() error {
		_, err := tn.view.CoreV1().Pods("ends-a").Get(t.Context(), "p", metav1.GetOptions{})
		return err
	})
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	command := tn.kubectl(ctx, "exec", "-n", "ends-a", "-i", "p", "--", "cat")
	in, err := command.StdinPipe()
	must(t, "pipe", err)
	out, err := command.StdoutPipe()
	must(t, "pipe", err)
	must(t, "exec", command.Start())
	_, err = io.WriteString(in, "hello\n")
	must(t, "write", err)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "hello\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	leave(t, "ends-a", other.root)
	_ = command.Wait()
	if ctx.Err() != nil {
		t.Fatal("the stream goes on")
	}
}
