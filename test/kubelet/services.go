package kubelet

import (
	"context"
	"fmt"
	"io"
	"net"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// serve forwards the connections to a Service to one of its ready pods.
func (k *Kubelet) serve(ctx context.Context, s *corev1.Service) error {
	for _, p := range s.Spec.Ports {
		address := fmt.Sprintf("%s:%d", s.Spec.ClusterIP, p.Port)
		if net.ParseIP(s.Spec.ClusterIP) == nil || s.Spec.ClusterIP == apiServer || k.proxied[address] {
			continue
		}
		k.proxied[address] = true
		if err := k.forward(ctx, address, func() string { return k.endpoint(ctx, s, p.Name) }); err != nil {
			return err
		}
	}
	return nil
}

// forward accepts connections at an address, and connects each to what target returns, or closes it.
func (k *Kubelet) forward(ctx context.Context, address string, target func() string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				if to, err := net.Dial("tcp", target()); err == nil {
					go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
					_, _ = io.Copy(from, to)
				}
				_ = from.Close()
			}()
		}
	}()
	return nil
}

// endpoint returns the address of a ready pod of a Service, if it has one.
func (k *Kubelet) endpoint(ctx context.Context, s *corev1.Service, port string) string {
	found, err := k.client.DiscoveryV1().EndpointSlices(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + s.Name})
	if err != nil {
		return ""
	}
	for _, slice := range found.Items {
		for _, p := range slice.Ports {
			for _, e := range slice.Endpoints {
				if ptr.Deref(p.Name, "") == port && ptr.Deref(e.Conditions.Ready, false) {
					return fmt.Sprintf("%s:%d", e.Addresses[0], *p.Port)
				}
			}
		}
	}
	return ""
}
