package children

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// newUser makes a user by certificate who has no permissions.
func newUser(t *testing.T, name string) user {
	t.Helper()
	config, err := cp.User(name)
	if err != nil {
		t.Fatal(err)
	}
	u, err := clients(name, config)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func namespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := root.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// grant gives the user permissions by rules of "verb,verb group/resource [name]", in a namespace or, if that is "", in
// the cluster, and returns when they have effect.
func (u user) grant(t *testing.T, namespace string, rules ...string) {
	t.Helper()
	role := fmt.Sprintf("%s-%s-%s", u.Name, namespace, strings.ToLower(strings.NewReplacer(" ", "-", ",", "-", "/", "-").Replace(t.Name())))
	clusterRole := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}}
	for _, rule := range rules {
		words := strings.Fields(rule)
		group, resource, _ := strings.Cut(words[1], "/")
		clusterRole.Rules = append(clusterRole.Rules, rbacv1.PolicyRule{
			Verbs: strings.Split(words[0], ","), APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: words[2:],
		})
	}
	if _, err := root.RbacV1().ClusterRoles().Create(t.Context(), clusterRole, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = root.RbacV1().ClusterRoles().Delete(context.WithoutCancel(t.Context()), role, metav1.DeleteOptions{})
	})
	u.bind(t, namespace, role)
	last := clusterRole.Rules[len(clusterRole.Rules)-1]
	u.eventuallyMay(t, last.Verbs[0], last.APIGroups[0], last.Resources[0], namespace, strings.Join(last.ResourceNames, ""))
}

// bind binds the user to a ClusterRole in a namespace, or in the cluster.
func (u user) bind(t *testing.T, namespace, role string) {
	t.Helper()
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.Name}}
	name := metav1.ObjectMeta{GenerateName: u.Name + "-"}
	var err error
	if namespace == "" {
		_, err = root.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: name, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
	} else {
		_, err = root.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: name, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// admin makes the user an admin of namespaces.
func (u user) admin(t *testing.T, namespaces ...string) {
	t.Helper()
	for _, namespace := range namespaces {
		u.bind(t, namespace, "admin")
		u.eventuallyMay(t, "update", hnc.GroupName, "hierarchies", namespace, "")
	}
}

func (u user) may(t *testing.T, verb, group, resource, namespace, name string) bool {
	t.Helper()
	review, err := u.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: group, Resource: resource, Namespace: namespace, Name: name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

func (u user) eventuallyMay(t *testing.T, verb, group, resource, namespace, name string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("%s may %s %s.%s in %q", u.Name, verb, resource, group, namespace), func() error {
		if !u.may(t, verb, group, resource, namespace, name) {
			return fmt.Errorf("not yet")
		}
		return nil
	})
}

// hierarchy changes or creates the hierarchy of a namespace.
func (u user) hierarchy(t *testing.T, namespace string, change func(*v1beta1.HierarchySpec)) error {
	t.Helper()
	client := u.HNC.HncV1beta1().Hierarchies(namespace)
	// The propagator may create one in between, where it has something to report.
	again := func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
	return retry.OnError(suite.Backoff, again, func() error {
		h, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			h = &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: namespace}}
			change(&h.Spec)
			_, err = client.Create(t.Context(), h, metav1.CreateOptions{})
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

func requires(names ...string) func(*v1beta1.HierarchySpec) {
	return func(s *v1beta1.HierarchySpec) { s.RequiredChildren = names }
}

func below(parent string) func(*v1beta1.HierarchySpec) {
	return func(s *v1beta1.HierarchySpec) { s.Parent = parent }
}

// subnamespace creates a Subnamespace.
func (u user) subnamespace(t *testing.T, parent, name string) (*v1beta1.Subnamespace, error) {
	t.Helper()
	return u.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
}

// eventuallyReady waits until a Subnamespace is ready, and returns it.
func eventuallyReady(t *testing.T, parent, name string) *v1beta1.Subnamespace {
	t.Helper()
	var s *v1beta1.Subnamespace
	suite.Eventually(t, fmt.Sprintf("Subnamespace %s/%s is ready", parent, name), func() (err error) {
		if s, err = root.HNC.HncV1beta1().Subnamespaces(parent).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) || s.DeletionTimestamp != nil {
			return fmt.Errorf("got %+v", s.Status)
		}
		return nil
	})
	return s
}

// eventuallyReports waits until a namespace's hierarchy has a condition of the reason whose message contains all parts;
// with "-" before the reason, until it has none.
func eventuallyReports(t *testing.T, namespace, reason string, parts ...string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("the hierarchy of %s reports %s", namespace, reason), func() error {
		h, err := root.HNC.HncV1beta1().Hierarchies(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		details := h.Status.Details()
		none, absent := strings.CutPrefix(reason, "-")
		i := slices.IndexFunc(details, func(c metav1.Condition) bool { return c.Type != hnc.ConditionReady && c.Reason == none })
		if absent {
			if i >= 0 || len(details) == 0 {
				return fmt.Errorf("got %+v", details)
			}
			return nil
		}
		if i < 0 {
			return fmt.Errorf("got %+v", details)
		}
		for _, part := range parts {
			if message := details[i].Message; !strings.Contains(message, part) {
				return fmt.Errorf("%q does not say %q", message, part)
			}
		}
		return nil
	})
}

// refused checks an error of the API.
func refused(t *testing.T, what string, err error, is func(error) bool, parts ...string) {
	t.Helper()
	if !is(err) {
		t.Errorf("%s: got %v", what, err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not contain %q", what, err, part)
		}
	}
}
