package kubelet

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// pod is what runs of a pod, in the network namespace of that name.
type pod struct {
	name, ip, root string
	// process is the last one of the container, and ended is closed when that is gone.
	process *exec.Cmd
	ended   chan struct{}
}

func (p *pod) runs() bool {
	if p == nil || p.process == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// sync does for a pod of a program what is to be done next.
func (k *Kubelet) sync(ctx context.Context, p *corev1.Pod, program string) error {
	pods, run := k.client.CoreV1().Pods(p.Namespace), k.pods[p.UID]
	switch {
	case p.DeletionTimestamp != nil && run.runs():
		if time.Now().After(p.DeletionTimestamp.Time) {
			return run.process.Process.Kill()
		}
		return run.process.Process.Signal(syscall.SIGTERM)
	case p.DeletionTimestamp != nil:
		delete(k.pods, p.UID)
		return pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	case p.Spec.NodeName == "":
		return pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}, metav1.CreateOptions{})
	}
	if run == nil {
		k.last++
		run = &pod{name: fmt.Sprintf("pod%d", k.last), ip: fmt.Sprintf("10.1.1.%d", k.last), root: filepath.Join("/run/pods", p.Namespace, p.Name)}
		k.pods[p.UID] = run
		if err := shell(`ip netns add %[1]s
ip link add v%[1]s type veth peer name eth0 netns %[1]s && ip link set v%[1]s master br0 up
ip -n %[1]s addr add %[2]s/16 dev eth0 && ip -n %[1]s link set eth0 up && ip -n %[1]s link set lo up
ip -n %[1]s route add default via 10.1.0.1
mkdir -p %[3]s/tmp %[3]s/proc && mount --bind /proc %[3]s/proc
touch %[3]s/program && mount --bind %[4]s %[3]s/program`, run.name, run.ip, run.root, program); err != nil {
			return err
		}
	}
	if err := k.mount(ctx, p, run); err != nil {
		return err
	}
	if !run.runs() {
		if err := k.start(p, run); err != nil {
			return err
		}
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}
	if probe(p.Spec.Containers[0], run.ip) {
		ready.Status = corev1.ConditionTrue
	}
	if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == ready.Type && c.Status == ready.Status }) {
		return nil
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: run.ip, PodIPs: []corev1.PodIP{{IP: run.ip}}, Conditions: []corev1.PodCondition{ready}}
	_, err := pods.UpdateStatus(ctx, p, metav1.UpdateOptions{})
	return err
}

// start runs the container. It counts as running until a second after its end, so that it is not started all the time.
func (k *Kubelet) start(p *corev1.Pod, run *pod) error {
	c := p.Spec.Containers[0]
	cmd := exec.Command("ip", append([]string{"netns", "exec", run.name, "chroot", run.root, "/program"}, c.Args...)...)
	cmd.Env = []string{"KUBERNETES_SERVICE_HOST=" + apiServer, "KUBERNETES_SERVICE_PORT=443", "PATH=" + os.Getenv("PATH")}
	for _, e := range c.Env {
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			e.Value = map[string]string{"metadata.name": p.Name, "metadata.namespace": p.Namespace, "status.podIP": run.ip}[e.ValueFrom.FieldRef.FieldPath]
		}
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	out, err := os.OpenFile(filepath.Join(k.Dir, p.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	run.process, run.ended = cmd, ended
	go func() {
		k.Log.Printf("%s/%s has ended: %v", p.Namespace, p.Name, cmd.Wait())
		time.Sleep(time.Second)
		close(ended)
	}()
	return nil
}

// prober does not verify certificates, like kubelet.
var prober = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // As above.

// probe reports whether a container is ready.
func probe(c corev1.Container, ip string) bool {
	if c.ReadinessProbe == nil {
		return true
	}
	get := c.ReadinessProbe.HTTPGet
	port := get.Port.IntValue()
	for _, p := range c.Ports {
		if p.Name == get.Port.StrVal {
			port = int(p.ContainerPort)
		}
	}
	response, err := prober.Get(fmt.Sprintf("%s://%s:%d%s", strings.ToLower(string(get.Scheme)), ip, port, get.Path))
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode < http.StatusBadRequest
}
