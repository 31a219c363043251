// Command standin runs the pods of a cluster as processes, in network namespaces of their own, and forwards the
// connections to Services: a stand-in for kubelet, kube-scheduler and kube-proxy. It needs root in a network namespace.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const node = "node"

type kubelet struct {
	kube   kubernetes.Interface
	dir    string
	images map[string]string
	ca     []byte
	api    string

	mu      sync.Mutex
	nextIP  int
	pods    map[string]*pod
	proxies map[string]bool
}

type pod struct {
	ip   string
	ns   string
	dir  string
	cmd  *exec.Cmd
	done chan struct{}
	bins bool
}

func main() {
	runtime.LockOSThread()
	kubeconfig := flag.String("kubeconfig", "", "")
	dir := flag.String("dir", "", "")
	images := flag.String("images", "", "name=binary,...; name is part of an image")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must(err)
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	must(err)
	k := &kubelet{kube: kube, dir: *dir, ca: config.CAData, api: strings.TrimPrefix(config.Host, "https://"), pods: map[string]*pod{}, proxies: map[string]bool{}, images: map[string]string{}}
	for _, i := range strings.Split(*images, ",") {
		name, bin, _ := strings.Cut(i, "=")
		k.images[name] = bin
	}
	must(os.MkdirAll(*dir, 0o700))
	sh("ip link set lo up; ip link show br0 >/dev/null 2>&1 || { ip link add br0 type bridge; ip addr add 10.1.0.1/16 dev br0; ip link set br0 up; ip route add local 10.0.0.0/24 dev lo; }")
	ctx := context.Background()
	k.makeNode(ctx)
	k.proxy("10.0.0.1:443", func() string { return k.api })
	for {
		k.round(ctx)
		time.Sleep(300 * time.Millisecond)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sh(script string) {
	if out, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v: %s\n", script, err, out)
	}
}

func (k *kubelet) makeNode(ctx context.Context) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	_, _ = k.kube.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
	go func() {
		for {
			if n, err := k.kube.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{}); err == nil {
				n.Spec.Taints = nil
				_, _ = k.kube.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
				if n, err = k.kube.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{}); err == nil {
					now := metav1.Now()
					n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Ready", LastHeartbeatTime: now, LastTransitionTime: now}}
					_, _ = k.kube.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{})
				}
			}
			time.Sleep(10 * time.Second)
		}
	}()
}

// proxy forwards connections.
func (k *kubelet) proxy(listen string, target func() string) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				to := target()
				if to == "" {
					return
				}
				d, err := net.DialTimeout("tcp", to, 5*time.Second)
				if err != nil {
					return
				}
				defer d.Close()
				go func() { _, _ = io.Copy(d, c); d.(*net.TCPConn).CloseWrite() }()
				_, _ = io.Copy(c, d)
			}()
		}
	}()
}

func (k *kubelet) round(ctx context.Context) {
	services, err := k.kube.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, s := range services.Items {
		if s.Spec.ClusterIP == "" || s.Spec.ClusterIP == "None" || s.Spec.ClusterIP == "10.0.0.1" {
			continue
		}
		for _, p := range s.Spec.Ports {
			listen := net.JoinHostPort(s.Spec.ClusterIP, strconv.Itoa(int(p.Port)))
			if !k.proxies[listen] {
				k.proxies[listen] = true
				k.proxy(listen, func() string { return k.endpoint(ctx, s.Namespace, s.Name, p.Name) })
			}
		}
	}
	pods, err := k.kube.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range pods.Items {
		k.sync(ctx, &pods.Items[i])
	}
}

var turn int

func (k *kubelet) endpoint(ctx context.Context, namespace, service, port string) string {
	slices, err := k.kube.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + service})
	if err != nil {
		return ""
	}
	var found []string
	for _, s := range slices.Items {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready == nil || !*e.Conditions.Ready {
				continue
			}
			for _, p := range s.Ports {
				if p.Name == nil && port == "" || p.Name != nil && *p.Name == port {
					found = append(found, net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*p.Port))))
				}
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	turn++
	return found[turn%len(found)]
}

func (k *kubelet) sync(ctx context.Context, p *corev1.Pod) {
	key := string(p.UID)
	client := k.kube.CoreV1().Pods(p.Namespace)
	if len(p.Spec.Containers) == 0 || k.binary(p) == "" {
		return
	}
	if p.Spec.NodeName == "" {
		_ = client.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}, metav1.CreateOptions{})
		return
	}
	run := k.pods[key]
	if p.DeletionTimestamp != nil {
		if run != nil && run.cmd != nil {
			select {
			case <-run.done:
			default:
				_ = run.cmd.Process.Signal(syscall.SIGTERM)
				if time.Now().After(p.DeletionTimestamp.Time) {
					_ = syscall.Kill(-run.cmd.Process.Pid, syscall.SIGKILL)
				}
				return
			}
		}
		if run != nil {
			sh("ip netns del " + run.ns)
			delete(k.pods, key)
		}
		zero := int64(0)
		_ = client.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
		return
	}
	if run == nil {
		k.nextIP++
		n := k.nextIP
		run = &pod{ip: fmt.Sprintf("10.1.%d.%d", n/200, 10+n%200), ns: fmt.Sprintf("pod%d-%d", os.Getpid(), n), dir: filepath.Join(k.dir, p.Namespace, p.Name)}
		sh(fmt.Sprintf("ip netns add %[1]s && ip link add v%[2]d type veth peer name eth0 netns %[1]s && ip link set v%[2]d master br0 up && ip -n %[1]s addr add %[3]s/16 dev eth0 && ip -n %[1]s link set eth0 up && ip -n %[1]s link set lo up && ip -n %[1]s route add default via 10.1.0.1", run.ns, n, run.ip))
		k.pods[key] = run
	}
	mounts, err := k.materialize(ctx, p, run)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return
	}
	started := false
	if run.cmd != nil {
		select {
		case <-run.done:
		default:
			started = true
		}
	}
	if !started {
		if err := k.start(p, run, mounts); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
			return
		}
	}
	ready := k.probe(p, run.ip)
	condition := func(t corev1.PodConditionType, ok bool) corev1.PodCondition {
		s := corev1.ConditionFalse
		if ok {
			s = corev1.ConditionTrue
		}
		c := corev1.PodCondition{Type: t, Status: s, LastTransitionTime: metav1.Now()}
		for _, old := range p.Status.Conditions {
			if old.Type == t && old.Status == s {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
		return c
	}
	before := false
	for _, c := range p.Status.Conditions {
		before = before || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	if before == ready && p.Status.Phase == corev1.PodRunning && p.Status.PodIP == run.ip {
		return
	}
	now := metav1.Now()
	p.Status.Phase, p.Status.PodIP, p.Status.PodIPs, p.Status.StartTime = corev1.PodRunning, run.ip, []corev1.PodIP{{IP: run.ip}}, &now
	p.Status.Conditions = []corev1.PodCondition{condition(corev1.PodScheduled, true), condition(corev1.PodInitialized, true), condition(corev1.ContainersReady, ready), condition(corev1.PodReady, ready)}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, Ready: ready, Image: p.Spec.Containers[0].Image, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}}
	if _, err := client.UpdateStatus(ctx, p, metav1.UpdateOptions{}); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
	}
}

func (k *kubelet) binary(p *corev1.Pod) string {
	for name, bin := range k.images {
		if strings.Contains(p.Spec.Containers[0].Image, name) {
			return bin
		}
	}
	return ""
}

// materialize writes the pod's volumes, and returns directory:path pairs.
func (k *kubelet) materialize(ctx context.Context, p *corev1.Pod, run *pod) ([]string, error) {
	var mounts []string
	for _, v := range p.Spec.Volumes {
		dir := filepath.Join(run.dir, "volumes", v.Name)
		if v.PersistentVolumeClaim != nil {
			dir = filepath.Join(k.dir, p.Namespace, "claims", v.PersistentVolumeClaim.ClaimName)
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		write := func(name string, data []byte) {
			file := filepath.Join(dir, name)
			if old, err := os.ReadFile(file); err == nil && string(old) == string(data) {
				return
			}
			_ = os.WriteFile(file+".new", data, 0o644)
			_ = os.Rename(file+".new", file)
		}
		switch {
		case v.Secret != nil:
			s, err := k.kube.CoreV1().Secrets(p.Namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			for key, data := range s.Data {
				write(key, data)
			}
		case v.ConfigMap != nil:
			s, err := k.kube.CoreV1().ConfigMaps(p.Namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			for key, data := range s.Data {
				write(key, []byte(data))
			}
		case v.Projected != nil:
			write("ca.crt", k.ca)
			write("namespace", []byte(p.Namespace))
			if _, err := os.Stat(filepath.Join(dir, "token")); err != nil {
				seconds := int64(1000000)
				t, err := k.kube.CoreV1().ServiceAccounts(p.Namespace).CreateToken(ctx, p.Spec.ServiceAccountName, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds,
					BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: p.Name, UID: p.UID}}}, metav1.CreateOptions{})
				if err != nil {
					return nil, err
				}
				write("token", []byte(t.Status.Token))
			}
		}
		for _, m := range p.Spec.Containers[0].VolumeMounts {
			if m.Name == v.Name {
				mounts = append(mounts, dir+":"+m.MountPath)
			}
		}
	}
	return mounts, nil
}

func (k *kubelet) start(p *corev1.Pod, run *pod, mounts []string) error {
	script := "set -e; mount -t tmpfs none /etc/hns 2>/dev/null || true; "
	for _, m := range mounts {
		from, to, _ := strings.Cut(m, ":")
		script += fmt.Sprintf("mkdir -p %[2]s; mount --bind %[1]s %[2]s; ", from, to)
	}
	script += `exec "$0" "$@"`
	c := p.Spec.Containers[0]
	args := append([]string{"netns", "exec", run.ns, "bash", "-c", script, k.binary(p)}, c.Args...)
	cmd := exec.Command("ip", args...)
	cmd.Env = []string{"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "PATH=" + os.Getenv("PATH"), "HOME=/tmp"}
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			value = map[string]string{"metadata.name": p.Name, "metadata.namespace": p.Namespace, "status.podIP": run.ip}[e.ValueFrom.FieldRef.FieldPath]
		}
		cmd.Env = append(cmd.Env, e.Name+"="+value)
	}
	log, err := os.OpenFile(filepath.Join(run.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println("started", p.Namespace, p.Name)
	run.cmd, run.done = cmd, make(chan struct{})
	done := run.done
	go func() { fmt.Println("ended", p.Name, cmd.Wait()); time.Sleep(time.Second); close(done) }()
	return nil
}

func (k *kubelet) probe(p *corev1.Pod, ip string) bool {
	c := p.Spec.Containers[0]
	if c.ReadinessProbe == nil || c.ReadinessProbe.HTTPGet == nil {
		return true
	}
	get := c.ReadinessProbe.HTTPGet
	port := get.Port.IntValue()
	if get.Port.Type == intstr.String {
		for _, q := range c.Ports {
			if q.Name == get.Port.StrVal {
				port = int(q.ContainerPort)
			}
		}
	}
	scheme := "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	r, err := client.Get(fmt.Sprintf("%s://%s%s", scheme, net.JoinHostPort(ip, strconv.Itoa(port)), get.Path))
	if err != nil {
		return false
	}
	defer r.Body.Close()
	return r.StatusCode < 400
}
