package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// generation is a label of what we write: copies have it, too, so a watch of metadata shows which version of a source
// has arrived.
const generation = "bench.example.com/generation"

// object is what is written.
type object interface {
	metav1.Object
	runtime.Object
}

// kind is a kind of objects that can be propagated.
type kind struct {
	schema.GroupVersionResource
	client func(kubernetes.Interface) rest.Interface
	// new returns an object whose content depends on the value.
	new func(value string) object
}

var allKinds = []kind{
	{rbacv1.SchemeGroupVersion.WithResource("rolebindings"), rbacClient, func(value string) object {
		return &rbacv1.RoleBinding{
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "bench-" + value}},
		}
	}},
	{rbacv1.SchemeGroupVersion.WithResource("roles"), rbacClient, func(value string) object {
		return &rbacv1.Role{Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"bench-" + value}, Verbs: []string{"get"},
		}}}
	}},
	{corev1.SchemeGroupVersion.WithResource("configmaps"), coreClient, func(value string) object {
		return &corev1.ConfigMap{Data: map[string]string{"value": value, "text": strings.Repeat("0123456789abcdef", 32)}}
	}},
	{corev1.SchemeGroupVersion.WithResource("secrets"), coreClient, func(value string) object {
		return &corev1.Secret{Data: map[string][]byte{"value": []byte(value), "text": []byte(strings.Repeat("0123456789abcdef", 32))}}
	}},
	{networkingv1.SchemeGroupVersion.WithResource("networkpolicies"), networkingClient, func(value string) object {
		return &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"bench": value}},
		}}
	}},
}

func rbacClient(c kubernetes.Interface) rest.Interface       { return c.RbacV1().RESTClient() }
func coreClient(c kubernetes.Interface) rest.Interface       { return c.CoreV1().RESTClient() }
func networkingClient(c kubernetes.Interface) rest.Interface { return c.NetworkingV1().RESTClient() }

func kindNames() []string {
	var names []string
	for _, k := range allKinds {
		names = append(names, k.Resource)
	}
	return names
}

// chosenKinds reads the flag.
func chosenKinds(list string) ([]kind, error) {
	var chosen []kind
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(allKinds, func(k kind) bool { return k.Resource == name })
		if i < 0 {
			return nil, fmt.Errorf("-kinds: %q is none of %s", name, strings.Join(kindNames(), ", "))
		}
		chosen = append(chosen, allKinds[i])
	}
	return chosen, nil
}

// kinds returns the chosen kinds.
func (b *bench) kinds() []kind {
	chosen, err := chosenKinds(b.Kinds)
	if err != nil {
		panic(err) // the flag was checked
	}
	return chosen
}

// enforced says whether the kind is propagated whatever is configured.
func (k kind) enforced() bool { return k.Group == rbacv1.GroupName }

// named returns an object of the kind, with the value as its content and its generation.
func (k kind) named(namespace, name, value string) object {
	o := k.new(value)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetLabels(map[string]string{generation: value})
	return o
}

func (k kind) create(ctx context.Context, c kubernetes.Interface, o object) error {
	return k.client(c).Post().Namespace(o.GetNamespace()).Resource(k.Resource).Body(o).Do(ctx).Error()
}

func (k kind) update(ctx context.Context, c kubernetes.Interface, o object) error {
	return k.client(c).Put().Namespace(o.GetNamespace()).Resource(k.Resource).Name(o.GetName()).Body(o).Do(ctx).Error()
}

func (k kind) delete(ctx context.Context, c kubernetes.Interface, namespace, name string) error {
	return k.client(c).Delete().Namespace(namespace).Resource(k.Resource).Name(name).Body(&metav1.DeleteOptions{}).Do(ctx).Error()
}
