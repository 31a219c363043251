package controlplane

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Namespace is where our servers' identities are.
const Namespace = "hns-system"

// group is the API group of our objects.
const group = "hnc.x-k8s.io"

var (
	apiServices = schema.GroupKind{Group: apiregistrationv1.GroupName, Kind: "APIService"}
	namespaces  = schema.GroupKind{Kind: "Namespace"}
)

// Installation is what our servers need to run against a control plane, as subprocesses or in-process.
type Installation struct {
	// APIServerKubeconfig and PropagatorKubeconfig authenticate as the ServiceAccounts hns-apiserver and
	// hns-propagator.
	APIServerKubeconfig, PropagatorKubeconfig string
	// Serving is hns-apiserver's certificate, which all replicas share.
	Serving KeyPair
	// APIServerPort is the port of hns-apiserver's first replica.
	APIServerPort int

	registration []*unstructured.Unstructured
}

// Install applies kustomizations (such as artifacts/dev and artifacts/policies) and makes our servers' kubeconfigs and
// certificate. It leaves out the APIServices, which are Register's: as long as one points at a server that isn't there,
// no namespace can be deleted.
func (cp *ControlPlane) Install(ctx context.Context, kustomizations ...string) (*Installation, error) {
	var first, rest []*unstructured.Unstructured
	installation := &Installation{}
	for _, dir := range kustomizations {
		objects, err := cp.Render(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			switch object.GroupVersionKind().GroupKind() {
			case apiServices:
				installation.registration = append(installation.registration, object)
			case namespaces:
				first = append(first, object)
			default:
				rest = append(rest, object)
			}
		}
	}
	if err := cp.Apply(ctx, append(first, rest...)); err != nil {
		return nil, err
	}
	return installation, installation.identify(ctx, cp)
}

// Installed returns the Installation of what Install has installed before, which cannot be registered.
func Installed(ctx context.Context, cp *ControlPlane) (*Installation, error) {
	installation := &Installation{}
	return installation, installation.identify(ctx, cp)
}

// identify makes our servers' kubeconfigs and certificate.
func (i *Installation) identify(ctx context.Context, cp *ControlPlane) error {
	var err error
	if _, i.APIServerKubeconfig, err = cp.ServiceAccount(ctx, Namespace, hnc.APIServerName); err != nil {
		return err
	}
	if _, i.PropagatorKubeconfig, err = cp.ServiceAccount(ctx, Namespace, hnc.PropagatorName); err != nil {
		return err
	}
	service := hnc.APIServerName + "." + Namespace + ".svc"
	if i.Serving, err = cp.pki.serving(cp.pki.cluster, hnc.APIServerName, service, "localhost", "127.0.0.1"); err != nil {
		return err
	}
	i.APIServerPort, err = cp.ports.get(hnc.APIServerName)
	return err
}

// Register points the APIServices at the hns-apiserver that listens on the loopback port, and returns when
// kube-apiserver serves our API through it, and kube-controller-manager has aggregated the permissions on it. Calling
// it again moves them to another replica.
func (cp *ControlPlane) Register(ctx context.Context, installation *Installation, port int) error {
	ca, err := os.ReadFile(cp.CAFile())
	if err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for _, object := range installation.registration {
		object = object.DeepCopy()
		if err := errors.Join(
			unstructured.SetNestedField(object.Object, int64(port), "spec", "service", "port"),
			unstructured.SetNestedField(object.Object, base64.StdEncoding.EncodeToString(ca), "spec", "caBundle"),
		); err != nil {
			return fmt.Errorf("APIService %s: %w", object.GetName(), err)
		}
		objects = append(objects, object)
	}
	if len(objects) == 0 {
		return errors.New("what is installed has no APIServices")
	}
	last := errors.New("not asked yet")
	err = wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, cp.config.Timeout, true, func(ctx context.Context) (bool, error) {
		// kube-apiserver backs off up to half a minute from an unavailable server, but looks at once when the
		// APIService changes.
		for _, object := range objects {
			object.SetAnnotations(map[string]string{fieldManager + "/tried": time.Now().Format(time.RFC3339)})
		}
		if err := cp.Apply(ctx, objects); err != nil {
			return false, err
		}
		if last = cp.served(objects); last == nil {
			last = cp.aggregated(ctx)
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("our API is not served through kube-apiserver (%w): %w", err, last)
	}
	return nil
}

// Deregister deletes an APIService. Before a downgrade to a hns-apiserver without its version, it must be deleted: as
// long as it exists and nothing answers, no namespace can be deleted.
func (cp *ControlPlane) Deregister(ctx context.Context, installation *Installation, name string) error {
	client, err := dynamic.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	installation.registration = slices.DeleteFunc(installation.registration, func(o *unstructured.Unstructured) bool { return o.GetName() == name })
	return client.Resource(apiregistrationv1.SchemeGroupVersion.WithResource("apiservices")).Delete(ctx, name, metav1.DeleteOptions{})
}

// served returns an error that says why, unless every version that is registered answers, and discovery lists it. The
// answer is the server's own, while discovery may be remembered; but discovery is the last to know of a new API, and
// clients depend on it.
func (cp *ControlPlane) served(registration []*unstructured.Unstructured) error {
	client, err := discovery.NewDiscoveryClientForConfig(cp.admin)
	if err != nil {
		return err
	}
	// Groups that fail are in the error, the others in the lists.
	_, lists, discoveryErr := client.ServerGroupsAndResources()
	for _, object := range registration {
		version, _, err := unstructured.NestedString(object.Object, "spec", "version")
		if err != nil {
			return err
		}
		of, _, err := unstructured.NestedString(object.Object, "spec", "group")
		if err != nil {
			return err
		}
		served := schema.GroupVersion{Group: of, Version: version}.String()
		if _, err := client.ServerResourcesForGroupVersion(served); err != nil {
			return fmt.Errorf("%s does not answer: %w", served, err)
		}
		listed := slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool {
			return list.GroupVersion == served && len(list.APIResources) > 0
		})
		if !listed {
			return errors.Join(fmt.Errorf("%s is not in discovery", served), discoveryErr)
		}
	}
	return nil
}
