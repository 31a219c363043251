package kinds

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestRolesAndRoleBindingsAreAlwaysPropagated(t *testing.T) {
	for _, resource := range []string{"roles", "rolebindings"} {
		suite.EventuallyEqual(t, "status of "+resource, "rbac.authorization.k8s.io/v1 Propagate", func() string {
			words := strings.Fields(status(t, resource))
			return strings.Join(words[:2], " ")
		})
	}
	suite.EventuallyEqual(t, "condition", hnc.ReasonReady, func() string { reason, _ := condition(t, hnc.ConditionReady); return reason })
	suite.EventuallyEqual(t, "observed generation", "true", func() string {
		c := configuration(t)
		return fmt.Sprint(len(c.Status.Conditions) == 1 && c.Status.Conditions[0].ObservedGeneration == c.Generation)
	})
}

// TestBadConfigurations has the rows of docs/spec/hnc.md 2.6.
func TestBadConfigurations(t *testing.T) {
	configure(t)
	for name, test := range map[string]struct {
		entries []string
		// says are parts of the message, which lists all errors.
		says []string
	}{
		"K3 BAD-5 a kind that does not exist":    {[]string{"gizmos.example.org Propagate"}, []string{"spec.resources[0]", "no such resource"}},
		"K3 a short name":                        {[]string{"netpol Propagate"}, []string{"spec.resources[0]", "no such resource"}},
		"K3 BAD-6 a kind that is not namespaced": {[]string{"configmaps Propagate", "nodes Propagate"}, []string{"spec.resources[1]", "not namespaced"}},
		"K4 roles":                               {[]string{"roles.rbac.authorization.k8s.io Remove"}, []string{"spec.resources[0]", "always propagated"}},
		"K4 rolebindings, in any spelling":       {[]string{"RoleBinding Propagate"}, []string{"spec.resources[0]", "always propagated"}},
		"K5 BAD-7 twice":                         {[]string{"secrets Propagate", "secret Ignore"}, []string{"spec.resources[1]", "spec.resources[0]"}},
		"K6 all at once":                         {[]string{"nodes Remove", "gizmos.example.org Remove", "roles Ignore"}, []string{"spec.resources[0]", "spec.resources[1]", "spec.resources[2]"}},
		"a mode that there is not":               {[]string{"secrets Copy"}, []string{"spec.resources[0].mode"}},
		"a conflict policy that there's not":     {[]string{"secrets Propagate Merge"}, []string{"spec.resources[0].onConflict"}},
		"no resource":                            {[]string{".example.org Propagate"}, []string{"spec.resources[0].resource"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := setResources(t.Context(), resources(test.entries...))
			if !apierrors.IsInvalid(err) {
				t.Fatalf("error %v", err)
			}
			for _, part := range test.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
		})
	}
}

func TestThereIsOneConfiguration(t *testing.T) {
	client := operator.HNC.HncV1beta1().HNCConfigurations()
	configuration(t)
	t.Run("K1 it can't be deleted", func(t *testing.T) {
		if err := client.Delete(t.Context(), hnc.ConfigurationName, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("error %v", err)
		}
		if err := client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("all of them: error %v", err)
		}
	})
	t.Run("BAD-10 no other name", func(t *testing.T) {
		other := &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
		if _, err := client.Create(t.Context(), other, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("its status is the propagator's", func(t *testing.T) {
		if _, err := client.UpdateStatus(t.Context(), configuration(t), metav1.UpdateOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("it is nothing to others", func(t *testing.T) {
		if _, err := alice.HNC.HncV1beta1().HNCConfigurations().Update(t.Context(), configuration(t), metav1.UpdateOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("error %v", err)
		}
	})
}

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	gadgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
)

func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "gadgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
}

// TestAKindThatComesAndGoes also has a kind that the propagator has no permissions on at first.
func TestAKindThatComesAndGoes(t *testing.T) {
	root, _, leaf := tree(t, "gadgets")
	if _, err := admin.Dynamic.Resource(definitions).Create(t.Context(), definition(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// A kind is accepted as soon as it exists.
	suite.EventuallyEqual(t, "configuration", "<nil>", func() string {
		return fmt.Sprint(setResources(t.Context(), resources("gadgets.example.com Propagate", "networkpolicies.networking.k8s.io Propagate")))
	})
	configure(t, "gadgets.example.com Propagate", "networkpolicies.networking.k8s.io Propagate")
	put(t, gadgets, object("Gadget", root, "a", "1"))
	suite.EventuallyEqual(t, "condition", "true", func() string {
		reason, message := condition(t, hnc.ConditionOutOfSync)
		return fmt.Sprint(reason == hnc.ReasonUnknown && strings.Contains(message, "gadgets.example.com can't be read") &&
			strings.Contains(message, "rbac.hnc.x-k8s.io/aggregate-to-propagator"))
	})
	// It does not hold up the others.
	put(t, networkPolicies, object("NetworkPolicy", root, "n", "1"))
	eventuallyPresent(t, networkPolicies, leaf, "n=1<"+root)

	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets-for-propagator", Labels: map[string]string{"rbac.hnc.x-k8s.io/aggregate-to-propagator": "true"}},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"example.com"}, Resources: []string{"gadgets"}, Verbs: []string{"get", "list", "watch", "create", "update", "delete"},
		}},
	}
	if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyPresent(t, gadgets, leaf, "a=1<"+root)
	eventuallyStatus(t, "gadgets", "example.com/v1 Propagate 2/1")
	suite.EventuallyEqual(t, "condition", "", func() string { reason, _ := condition(t, hnc.ConditionOutOfSync); return reason })

	if err := admin.Dynamic.Resource(definitions).Delete(t.Context(), "gadgets.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "condition", hnc.ReasonResourceNotFound, func() string { reason, _ := condition(t, hnc.ConditionBadConfiguration); return reason })
	eventuallyStatus(t, "gadgets", "not active")
	// An entry whose kind has gone stands in nobody's way.
	if err := setResources(t.Context(), resources("gadgets.example.com Propagate", "networkpolicies.networking.k8s.io Ignore")); err != nil {
		t.Error(err)
	}

	suite.EventuallyEqual(t, "the definition again", "<nil>", func() string {
		_, err := admin.Dynamic.Resource(definitions).Create(t.Context(), definition(), metav1.CreateOptions{})
		return fmt.Sprint(err)
	})
	suite.EventuallyEqual(t, "condition", "", func() string { reason, _ := condition(t, hnc.ConditionBadConfiguration); return reason })
	put(t, gadgets, object("Gadget", root, "b", "1"))
	eventuallyPresent(t, gadgets, leaf, "b=1<"+root)
}

func TestTheConfigurationIsTheSameInBothVersions(t *testing.T) {
	configure(t, "ConfigMap Remove", "secrets")
	eventuallyStatus(t, "ConfigMap", "/v1 Remove 0/-")
	client := operator.Dynamic.Resource(schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hncconfigurations"})
	u, err := client.Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Sorted by group, then resource; spelled as in the configuration; a mode that is not named is Propagate.
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "resources")
	var got []string
	for _, entry := range list {
		e := entry.(map[string]any)
		got = append(got, fmt.Sprint(e["group"], "/", e["resource"], "=", e["mode"]))
	}
	want := "/ConfigMap=Remove /secrets=Propagate rbac.authorization.k8s.io/rolebindings=Propagate rbac.authorization.k8s.io/roles=Propagate"
	if strings.Join(got, " ") != want {
		t.Errorf("status %q, want %q", got, want)
	}
}
