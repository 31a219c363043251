package managed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func split(pair string) (key, value string) {
	key, value, _ = strings.Cut(pair, "=")
	return key, value
}

func pairs(all ...string) []v1beta1.MetaKVP {
	var list []v1beta1.MetaKVP
	for _, p := range all {
		key, value := split(p)
		list = append(list, v1beta1.MetaKVP{Key: key, Value: value})
	}
	return list
}

// setHierarchy changes or creates the hierarchy of a namespace, as u.
func setHierarchy(t *testing.T, u user, namespace string, change func(*v1beta1.HierarchySpec)) error {
	t.Helper()
	client := u.HNC.HncV1beta1().Hierarchies(namespace)
	return retry.RetryOnConflict(suite.Backoff, func() error {
		h, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			h = &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: namespace}}
			change(&h.Spec)
			if _, err = client.Create(t.Context(), h, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
				err = apierrors.NewConflict(hnc.Resource("hierarchies"), hnc.Singleton, err)
			}
			return err
		}
		if err != nil {
			return err
		}
		change(&h.Spec)
		_, err = client.Update(t.Context(), h, metav1.UpdateOptions{})
		return err
	})
}

func mustSetHierarchy(t *testing.T, namespace string, change func(*v1beta1.HierarchySpec)) {
	t.Helper()
	if err := setHierarchy(t, alice, namespace, change); err != nil {
		t.Fatal(err)
	}
}

func parent(name string) func(*v1beta1.HierarchySpec) {
	return func(s *v1beta1.HierarchySpec) { s.Parent = name }
}

func labels(all ...string) func(*v1beta1.HierarchySpec) {
	return func(s *v1beta1.HierarchySpec) { s.Labels = pairs(all...) }
}

// subnamespace creates one, as alice.
func subnamespace(t *testing.T, parent, name string, spec v1beta1.SubnamespaceSpec) error {
	t.Helper()
	_, err := alice.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(),
		&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	return err
}

// patchNamespace changes a namespace by a JSON merge patch, as root.
func patchNamespace(t *testing.T, name, patch string) {
	t.Helper()
	if _, err := root.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// has checks metadata of a namespace now: "key=value" for a label, "@key=value" for an annotation, "key!" for none of
// that key.
func has(t *testing.T, name string, want ...string) error {
	t.Helper()
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, w := range want {
		all, rest := ns.Labels, w
		if w[0] == '@' {
			all, rest = ns.Annotations, w[1:]
		}
		if key, absent := strings.CutSuffix(rest, "!"); absent {
			if value, ok := all[key]; ok {
				return fmt.Errorf("namespace %s has %s=%s", name, key, value)
			}
			continue
		}
		if key, value := split(rest); all[key] != value {
			return fmt.Errorf("namespace %s has %s=%q, want %q", name, key, all[key], value)
		}
	}
	return nil
}

func eventuallyHas(t *testing.T, name string, want ...string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("namespace %s has %v", name, want), func() error { return has(t, name, want...) })
}

// conditions returns the conditions of a namespace's hierarchy as type=reason, in order, and their messages.
func conditions(t *testing.T, namespace string) (string, string, error) {
	h, err := root.HNC.HncV1beta1().Hierarchies(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		return "", "", err
	}
	var words, messages []string
	for _, c := range h.Status.Details() {
		words, messages = append(words, c.Type+"="+c.Reason), append(messages, c.Message)
	}
	slices.Sort(words)
	return strings.Join(words, " "), strings.Join(messages, "\n"), nil
}

// eventuallyConditions waits for conditions, sorted, whose messages contain all parts.
func eventuallyConditions(t *testing.T, namespace, want string, parts ...string) {
	t.Helper()
	suite.Eventually(t, "conditions of "+namespace, func() error {
		got, messages, err := conditions(t, namespace)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%q, want %q", got, want)
		}
		for _, part := range parts {
			if !strings.Contains(messages, part) {
				return fmt.Errorf("%q is not in %q", part, messages)
			}
		}
		return nil
	})
}

// refused checks an error of the API.
func refused(t *testing.T, rule string, err error, is func(error) bool, parts ...string) {
	t.Helper()
	if !is(err) {
		t.Errorf("%s: got %v", rule, err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not contain %q", rule, err, part)
		}
	}
}
