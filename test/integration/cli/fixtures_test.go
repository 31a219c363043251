package cli

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// namespace makes a full namespace; with a parent, below it.
func namespace(t *testing.T, name, parent string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := kube.CoreV1().Namespaces().Create(context.WithoutCancel(t.Context()), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if parent == "" {
		return
	}
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}
	if _, err := hierarchies.HncV1beta1().Hierarchies(name).Create(context.WithoutCancel(t.Context()), h, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// subnamespace makes a sub-namespace, ready to use.
func subnamespace(t *testing.T, name, parent string) {
	t.Helper()
	sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: parent, Name: name}}
	if _, err := hierarchies.HncV1beta1().Subnamespaces(parent).Create(context.WithoutCancel(t.Context()), sub, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// propagation has the hierarchy of a root say how kinds are propagated from it.
func propagation(t *testing.T, name string, resources ...v1beta1.ResourceSpec) {
	t.Helper()
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Propagation: resources}}
	eventually(t, func() error {
		client := hierarchies.HncV1beta1().Hierarchies(name)
		// The propagator may have made one meanwhile.
		present, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = client.Create(t.Context(), h, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		present.Spec.Propagation = resources
		_, err = client.Update(t.Context(), present, metav1.UpdateOptions{})
		return err
	})
}

// removed removes a namespace when the test is over.
func removed(t *testing.T, name string) {
	t.Helper()
	t.Cleanup(func() {
		if err := kube.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// waitUntilNothingIsHalted returns when the configuration reports no conditions of namespaces.
func waitUntilNothingIsHalted(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		config, err := hierarchies.HncV1beta1().HNCConfigurations().Get(context.WithoutCancel(t.Context()), hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range config.Status.Details() {
			if c.Type != hnc.ConditionReady {
				return fmt.Errorf("the configuration says %v", c)
			}
		}
		return nil
	})
}

// orphan makes a namespace below one that is deleted then.
func orphan(t *testing.T, name, parent string) {
	t.Helper()
	namespace(t, parent, "")
	namespace(t, name, parent)
	removed(t, name)
	if err := kube.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), parent, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if _, err := kube.CoreV1().Namespaces().Get(context.WithoutCancel(t.Context()), parent, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("namespace %s is not gone: %w", parent, err)
		}
		return nil
	})
	waitForCondition(t, name, hnc.ReasonParentMissing)
}

func waitForCondition(t *testing.T, namespace, reason string) {
	t.Helper()
	eventually(t, func() error {
		h, err := hierarchies.HncV1beta1().Hierarchies(namespace).Get(context.WithoutCancel(t.Context()), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range h.Status.Details() {
			if c.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("%s has no condition %s: %v", namespace, reason, h.Status.Conditions)
	})
}

// configMap makes a ConfigMap with annotations, which are given as key, value, key, value.
func configMap(t *testing.T, namespace, name string, annotations ...string) {
	t.Helper()
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}}
	for i := 0; i+1 < len(annotations); i += 2 {
		c.Annotations[annotations[i]] = annotations[i+1]
	}
	if _, err := kube.CoreV1().ConfigMaps(namespace).Create(context.WithoutCancel(t.Context()), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// waitForConfigMap returns when the namespace has a ConfigMap.
func waitForConfigMap(t *testing.T, namespace, name string) {
	t.Helper()
	eventually(t, func() error {
		_, err := kube.CoreV1().ConfigMaps(namespace).Get(context.WithoutCancel(t.Context()), name, metav1.GetOptions{})
		return err
	})
}

// waitForRoleBinding returns when the namespace has a RoleBinding.
func waitForRoleBinding(t *testing.T, namespace, name string) {
	t.Helper()
	eventually(t, func() error {
		_, err := kube.RbacV1().RoleBindings(namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err
	})
}

// configure has configmaps propagated, as the test's entry says.
func configure(t *testing.T, resources ...v1beta1.ResourceSpec) {
	t.Helper()
	set := func(resources []v1beta1.ResourceSpec) error {
		config, err := hierarchies.HncV1beta1().HNCConfigurations().Get(context.WithoutCancel(t.Context()), hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		config.Spec.Resources = resources
		_, err = hierarchies.HncV1beta1().HNCConfigurations().Update(context.WithoutCancel(t.Context()), config, metav1.UpdateOptions{})
		return err
	}
	eventually(t, func() error { return set(resources) })
	eventually(t, func() error {
		config, err := hierarchies.HncV1beta1().HNCConfigurations().Get(context.WithoutCancel(t.Context()), hnc.ConfigurationName, metav1.GetOptions{})
		if err == nil && len(config.Status.Resources) != 2+len(resources) {
			err = fmt.Errorf("the configuration acts on %v", config.Status.Resources)
		}
		return err
	})
}
