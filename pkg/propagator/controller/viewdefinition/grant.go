package viewdefinition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

func hasSuffix(group, suffix string) bool {
	return suffix != "" && strings.HasSuffix(group, "."+suffix)
}

// grant writes a Role with all permissions for the custom resources of a view, and binds it to those who have created
// their ViewDefinitions and may still do so. Both are propagated as all others. Unless more is true, it only revokes.
func (c *Controller) grant(ctx context.Context, namespace string, steps []step, more bool) error {
	var groups []string
	var usable []*v1alpha3.ViewDefinition
	for _, t := range steps {
		if t.usable() {
			groups, usable = append(groups, t.group()), append(usable, t.definition)
		}
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	name := hnc.ViewRoleName(namespace, hnc.CustomResources)
	meta := metav1.ObjectMeta{Name: name, Labels: map[string]string{hnc.LabelViewRoot: namespace}}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: groups, Resources: []string{"*"}, Verbs: []string{"*"}}}}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}
	if len(groups) == 0 {
		return c.revoke(ctx, namespace, name)
	}
	var err error
	if binding.Subjects, err = c.creators(ctx, namespace, usable); err != nil {
		return err
	}
	if !more {
		return c.withdraw(ctx, namespace, binding)
	}
	if err := c.writeRole(ctx, namespace, role); err != nil {
		return err
	}
	return c.writeBinding(ctx, namespace, binding)
}

// writeRole writes the Role of a view. kube-apiserver has authorized the RoleBindings that refer to its name by the rules
// that the name had. Unless these were those of the view's custom resources, they are removed: before the Role is
// written, and those that were created meanwhile after it, or the Role is removed again.
func (c *Controller) writeRole(ctx context.Context, namespace string, wanted *rbacv1.Role) error {
	roles, verb := c.Kubernetes.RbacV1().Roles(namespace), "update"
	role, err := roles.Get(ctx, wanted.Name, metav1.GetOptions{})
	arrives := apierrors.IsNotFound(err) || (err == nil && !extends(wanted.Rules, role.Rules))
	if arrives {
		if err := c.unbind(ctx, namespace, wanted.Name); err != nil {
			return err
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		verb = "create"
		_, err = roles.Create(ctx, wanted, metav1.CreateOptions{})
	case err != nil:
	case !resetMetadata(role, wanted) && apiequality.Semantic.DeepEqual(role.Rules, wanted.Rules):
		return nil
	default:
		role.Rules = wanted.Rules
		_, err = roles.Update(ctx, role, metav1.UpdateOptions{})
	}
	if err == nil && arrives {
		if err := c.unbind(ctx, namespace, wanted.Name); err != nil {
			return errors.Join(err, deleteOwn(ctx, c, "Role", namespace, wanted.Name, roles))
		}
	}
	return outcome.Record(c.Metrics, "Role", verb, namespace, err, nil)
}

// resetMetadata gives an object the labels of the wanted one, and removes owners and finalizers, by which others would
// decide when it is deleted. It reports whether that changes the object.
func resetMetadata(o, wanted metav1.Object) bool {
	changed := !apiequality.Semantic.DeepEqual(o.GetLabels(), wanted.GetLabels()) || len(o.GetOwnerReferences())+len(o.GetFinalizers()) > 0
	o.SetLabels(wanted.GetLabels())
	o.SetOwnerReferences(nil)
	o.SetFinalizers(nil)
	return changed
}

// extends reports whether rules that allow everything for some groups may extend the present ones: only users with
// these permissions could write or bind those.
func extends(wanted, present []rbacv1.PolicyRule) bool {
	return len(present) == 1 && len(present[0].ResourceNames) == 0 && slices.Equal(present[0].Verbs, wanted[0].Verbs) && slices.Equal(present[0].Resources, wanted[0].Resources) &&
		slices.ContainsFunc(present[0].APIGroups, func(group string) bool { return slices.Contains(wanted[0].APIGroups, group) })
}

// unbind deletes the RoleBindings in a namespace that refer to a Role. It returns an error if a finalizer keeps one.
func (c *Controller) unbind(ctx context.Context, namespace, role string) error {
	refers := func(name string) bool { return name == role }
	return c.Bindings.RoleBindings(ctx, namespace, "", refers, func(b *rbacv1.RoleBinding) error {
		err := c.Kubernetes.RbacV1().RoleBindings(namespace).Delete(ctx, b.Name, *metav1.NewPreconditionDeleteOptions(string(b.UID)))
		if err := outcome.Record(c.Metrics, "RoleBinding", "delete", namespace, err, nil); err != nil {
			return err
		}
		if len(b.Finalizers) > 0 {
			return fmt.Errorf("role %q is not written, because finalizers keep RoleBinding %q, which refers to another one", role, names.Shorten(b.Name))
		}
		return nil
	})
}

func (c *Controller) writeBinding(ctx context.Context, namespace string, wanted *rbacv1.RoleBinding) error {
	bindings, verb := c.Kubernetes.RbacV1().RoleBindings(namespace), "update"
	binding, err := bindings.Get(ctx, wanted.Name, metav1.GetOptions{})
	if err == nil && binding.RoleRef != wanted.RoleRef {
		// Nobody can change it.
		if err = deleteNow(ctx, bindings, binding); err == nil {
			err = apierrors.NewNotFound(rbacv1.Resource("rolebindings"), wanted.Name)
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		verb = "create"
		_, err = bindings.Create(ctx, wanted, metav1.CreateOptions{})
	case err != nil:
	case !resetMetadata(binding, wanted) && apiequality.Semantic.DeepEqual(binding.Subjects, wanted.Subjects):
		return nil
	default:
		binding.Subjects = wanted.Subjects
		_, err = bindings.Update(ctx, binding, metav1.UpdateOptions{})
	}
	return outcome.Record(c.Metrics, "RoleBinding", verb, namespace, err, nil)
}

// withdraw removes those subjects from the RoleBinding that the wanted one does not have.
func (c *Controller) withdraw(ctx context.Context, namespace string, wanted *rbacv1.RoleBinding) error {
	bindings := c.Kubernetes.RbacV1().RoleBindings(namespace)
	binding, err := bindings.Get(ctx, wanted.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		had := len(binding.Subjects)
		binding.Subjects = slices.DeleteFunc(binding.Subjects, func(s rbacv1.Subject) bool { return !slices.Contains(wanted.Subjects, s) })
		if len(binding.Subjects) == had || binding.RoleRef != wanted.RoleRef { // Its labels may have been removed.
			return nil
		}
		_, err = bindings.Update(ctx, binding, metav1.UpdateOptions{})
	}
	return outcome.Record(c.Metrics, "RoleBinding", "update", namespace, err, nil)
}

// revoke deletes the Role and the RoleBinding, unless somebody else has made them.
func (c *Controller) revoke(ctx context.Context, namespace, name string) error {
	rbac := c.Kubernetes.RbacV1()
	return errors.Join(deleteOwn(ctx, c, "RoleBinding", namespace, name, rbac.RoleBindings(namespace)),
		deleteOwn(ctx, c, "Role", namespace, name, rbac.Roles(namespace)))
}

// client is that of Roles or RoleBindings.
type client[T metav1.Object] interface {
	Get(context.Context, string, metav1.GetOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

// deleteOwn deletes an object if it has the label of the view of the namespace.
func deleteOwn[T metav1.Object](ctx context.Context, c *Controller, kind, namespace, name string, client client[T]) error {
	object, err := client.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && object.GetLabels()[hnc.LabelViewRoot] != namespace:
		return nil
	case err == nil:
		err = deleteNow(ctx, client, object)
	}
	return outcome.Record(c.Metrics, kind, "delete", namespace, err, nil)
}

// deleteNow deletes an object as it was read, without the finalizers that would keep what it grants.
func deleteNow[T metav1.Object](ctx context.Context, client client[T], object T) (err error) {
	if len(object.GetFinalizers()) > 0 {
		object.SetFinalizers(nil)
		if object, err = client.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	uid, version := object.GetUID(), object.GetResourceVersion()
	return client.Delete(ctx, object.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
}
