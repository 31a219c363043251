package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/bench/floor"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// minimal is a minimal aggregated API server, with one object in each of some namespaces.
type minimal struct {
	*bench
	namespaces []string
}

var (
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	minimalAPI  = floor.GroupVersion.WithResource(floor.Resource)
)

// startMinimal runs the server in this process, and returns when kube-apiserver forwards to it. Stop ends it.
func startMinimal(ctx context.Context, b *bench, namespaces []string) (m *minimal, stop func() error, err error) {
	port, err := b.cp.Port("floor")
	if err != nil {
		return nil, nil, err
	}
	etcd, err := b.cp.Etcd()
	if err != nil {
		return nil, nil, err
	}
	ca, err := os.ReadFile(b.cp.CAFile())
	if err != nil {
		return nil, nil, err
	}
	// Its log would be among the progress.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	serving, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- floor.Run(serving, floor.Config{
			Kubeconfig: b.installation.APIServerKubeconfig, CertFile: b.installation.Serving.CertFile, KeyFile: b.installation.Serving.KeyFile,
			Endpoints: etcd.Endpoints, EtcdCA: etcd.CAFile, EtcdCertFile: etcd.Client.CertFile, EtcdKeyFile: etcd.Client.KeyFile, Port: port,
		})
	}()
	m = &minimal{b, namespaces}
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": floor.GroupVersion.Version + "." + floor.GroupVersion.Group},
		"spec": map[string]any{
			"group": floor.GroupVersion.Group, "version": floor.GroupVersion.Version,
			"groupPriorityMinimum": int64(1000), "versionPriority": int64(10), "caBundle": ca,
			"service": map[string]any{"namespace": controlplane.Namespace, "name": apiserver, "port": int64(port)},
		},
	}}
	stop = func() error {
		err := b.admin.dynamic.Resource(apiServices).Delete(context.WithoutCancel(ctx), service.GetName(), metav1.DeleteOptions{})
		cancel()
		return errors.Join(err, <-ended)
	}
	if err := m.register(ctx, service); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	_, _, err = load(ctx, len(namespaces), func(ctx context.Context, i int) error {
		o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": hnc.Singleton}}}
		o.SetGroupVersionKind(floor.GroupVersion.WithKind("Hierarchy"))
		// kube-apiserver may still find the new API unavailable once more.
		return until(ctx, b.Timeout, func(ctx context.Context) error {
			_, err := b.dynamic.Resource(minimalAPI).Namespace(namespaces[i]).Create(ctx, o, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	})
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return m, stop, nil
}

// register returns when kube-apiserver serves the API.
func (m *minimal) register(ctx context.Context, service *unstructured.Unstructured) error {
	services := m.admin.dynamic.Resource(apiServices)
	if _, err := services.Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return err
	}
	tries := 0
	return until(ctx, m.Timeout, func(ctx context.Context) error {
		_, err := m.dynamic.Resource(minimalAPI).Namespace(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if tries++; err == nil || tries%20 != 0 {
			return err
		}
		// kube-apiserver looks at once when the APIService changes.
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench.example.com/tried":"%d"}}}`, tries)
		_, patchErr := services.Patch(ctx, service.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
		return errors.Join(err, patchErr)
	})
}

// change changes the parents in the objects, each in n of n requests, and labels the namespaces meanwhile, as the
// propagator does. It returns how long each request for a parent took.
func (m *minimal) change(ctx context.Context, n int, value string) ([]time.Duration, error) {
	labels := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, generation, value)
	changed := make(chan string, n)
	errs := make([]error, writers)
	var labeling sync.WaitGroup
	for w := range writers {
		labeling.Go(func() {
			for namespace := range changed {
				_, err := m.kube.CoreV1().Namespaces().Patch(ctx, namespace, types.MergePatchType, labels, metav1.PatchOptions{})
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	each, _, err := load(ctx, n, func(ctx context.Context, i int) error {
		namespace := m.namespaces[i%len(m.namespaces)]
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"parent": fmt.Sprintf("%s-%d", value, i)}})
		if err != nil {
			return err
		}
		if _, err = m.dynamic.Resource(minimalAPI).Namespace(namespace).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		changed <- namespace
		return nil
	})
	close(changed)
	labeling.Wait()
	return each, errors.Join(append(errs, err)...)
}
