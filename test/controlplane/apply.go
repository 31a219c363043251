package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
)

// fieldManager owns what we apply.
const fieldManager = "hns-dev"

// Render builds a kustomization, the directory dir, into objects in its order.
func (cp *ControlPlane) Render(ctx context.Context, dir string) ([]*unstructured.Unstructured, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(cp.config.BinDir, kubectl), "kustomize", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kustomize %s: %w: %s", dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("kustomize %s: %w", dir, err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// Apply writes the objects by server-side apply as the administrator, in their order, taking fields over from other
// managers. An object whose namespace or kind doesn't exist yet is tried again for as long as Config.Timeout: a
// sub-namespace comes into being after its record, a kind after its server.
func (cp *ControlPlane) Apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	client, err := dynamic.NewForConfig(cp.admin)
	if err != nil {
		return err
	}
	core, err := kubernetes.NewForConfig(cp.admin)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(core.Discovery()))
	for _, object := range objects {
		var last error
		err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, cp.config.Timeout, true, func(ctx context.Context) (bool, error) {
			last = applyOne(ctx, client, mapper, object)
			if meta.IsNoMatchError(last) {
				mapper.Reset()
				return false, nil
			}
			if apierrors.IsNotFound(last) || apierrors.IsServiceUnavailable(last) {
				return false, nil
			}
			return true, nil
		})
		if err := errors.Join(err, last); err != nil {
			return fmt.Errorf("applying %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

func applyOne(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var resource dynamic.ResourceInterface = client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		resource = client.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	_, err = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}
