package migration

import (
	"maps"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hierarchyfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

// fakeClients are the clients of a cluster with these objects: those of Kubernetes, and unstructured ones.
func fakeClients(t *testing.T, objects ...runtime.Object) *clients {
	t.Helper()
	kube := fake.NewClientset()
	kinds := map[schema.GroupVersionResource]string{hnc.CRDResource: "CustomResourceDefinitionList", hnc.APIServiceResource: "APIServiceList"}
	for resource, kind := range map[string]string{
		hierarchyConfigurations: "HierarchyConfigurationList", anchors: "SubnamespaceAnchorList", configurations: "HNCConfigurationList", quotas: "HierarchicalResourceQuotaList",
		"hierarchies": "HierarchyList", "subnamespaces": "SubnamespaceList",
	} {
		kinds[hncResource(resource)], kinds[v1beta1.SchemeGroupVersion.WithResource(resource)] = kind, kind
	}
	dynamic := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)
	for _, o := range objects {
		var err error
		if u, ok := o.(*unstructured.Unstructured); ok && u.GetKind() == "APIService" {
			err = dynamic.Tracker().Create(hnc.APIServiceResource, u, "")
		} else if ok {
			err = dynamic.Tracker().Add(u)
		} else {
			err = kube.Tracker().Add(o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lockStates(kube)
	hierarchy := hierarchyfake.NewSimpleClientset()
	return &clients{kube: kube, dynamic: dynamic, hierarchy: hierarchy, propagator: hierarchy}
}

// lockStates makes a fake server treat the resource versions of ConfigMaps as API servers do.
func lockStates(kube *fake.Clientset) {
	configMaps := corev1.SchemeGroupVersion.WithResource("configmaps")
	var lock sync.Mutex
	last := 0
	next := func() string {
		last++
		return strconv.Itoa(last)
	}
	conflict := apierrors.NewConflict(configMaps.GroupResource(), hnc.Migration, nil)
	kube.PrependReactor("*", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
		lock.Lock()
		defer lock.Unlock()
		switch action := action.(type) {
		case clienttesting.CreateActionImpl:
			action.Object.(*corev1.ConfigMap).ResourceVersion = next()
		case clienttesting.UpdateActionImpl:
			changed := action.Object.(*corev1.ConfigMap)
			stored, err := kube.Tracker().Get(configMaps, changed.Namespace, changed.Name)
			if err != nil {
				return false, nil, nil
			}
			if current := stored.(*corev1.ConfigMap); current.ResourceVersion != changed.ResourceVersion {
				return true, nil, conflict
			} else if !maps.Equal(current.Data, changed.Data) {
				changed.ResourceVersion = next()
			}
		case clienttesting.DeleteActionImpl:
			stored, err := kube.Tracker().Get(configMaps, action.Namespace, action.Name)
			if err != nil {
				return false, nil, nil
			}
			if wanted := action.DeleteOptions.Preconditions; wanted != nil && wanted.ResourceVersion != nil && *wanted.ResourceVersion != stored.(*corev1.ConfigMap).ResourceVersion {
				return true, nil, conflict
			}
		}
		return false, nil, nil
	})
}

// object is one of HNC, or a definition.
func object(kind, namespace, name string, spec map[string]any, finalizers ...string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": hncResource("").GroupVersion().String(), "kind": kind}}
	if kind == "CustomResourceDefinition" {
		o.SetAPIVersion(hnc.CRDResource.GroupVersion().String())
	}
	if spec != nil {
		o.Object["spec"] = spec
	}
	o.SetNamespace(namespace)
	o.SetName(name)
	if len(finalizers) > 0 {
		o.SetFinalizers(finalizers)
	}
	return o
}

func systemNamespace(annotations map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hnc.SystemNamespace, Annotations: annotations}}
}
