// Package kubelet runs the pods of a control plane as processes, each at an address of its own and with its container's
// arguments, volumes and readiness probe, and forwards the connections to Services: a stand-in for kubelet,
// kube-scheduler and kube-proxy, on which manifests run unchanged. A pod has one container, whose program is statically
// linked.
package kubelet

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os/exec"
	"path"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// WithoutControllers are the controllers of kube-controller-manager to leave out: the node does not say that it is
// alive.
const WithoutControllers = "-node-lifecycle-controller"

// node is where all pods are, and apiServer the address of kube-apiserver in them.
const node, apiServer = "node", "10.0.0.1"

// Kubelet runs pods.
type Kubelet struct {
	// Config has all permissions in the cluster.
	Config *rest.Config
	// Dir is for claims of volumes, and for the pods' logs.
	Dir string
	// Programs are the files of the programs, by the last part of the image's name. Other pods stay pending.
	Programs map[string]string
	// Log receives what fails and is tried again.
	Log *log.Logger

	client  kubernetes.Interface
	pods    map[types.UID]*pod
	proxied map[string]bool
	last    int
}

// Run runs pods until the context is done. It must be called in a process that Enter has run.
func (k *Kubelet) Run(ctx context.Context) error {
	server, err := url.Parse(k.Config.Host)
	if err != nil {
		return err
	}
	k.pods, k.proxied = map[types.UID]*pod{}, map[string]bool{}
	if k.client, err = kubernetes.NewForConfig(k.Config); err != nil {
		return err
	}
	if err := k.forward(ctx, apiServer+":443", func() string { return server.Host }); err != nil {
		return err
	}
	if _, err := k.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := k.look(ctx); err != nil {
			k.Log.Print(err)
		}
	}, 300*time.Millisecond)
	return nil
}

// look brings Services and pods up to date.
func (k *Kubelet) look(ctx context.Context) error {
	services, err := k.client.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range services.Items {
		errs = append(errs, k.serve(ctx, &s))
	}
	for _, p := range pods.Items {
		name, _, _ := strings.Cut(path.Base(p.Spec.Containers[0].Image), ":")
		if program := k.Programs[name]; program != "" {
			errs = append(errs, k.sync(ctx, &p, program))
		}
	}
	return errors.Join(errs...)
}

// shell runs commands.
func shell(format string, args ...any) error {
	script := fmt.Sprintf(format, args...)
	if out, err := exec.Command("bash", "-euc", script).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return nil
}
