package client

import (
	"context"
	"errors"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// Each RoleBinding may have more than a megabyte, and tenants decide how many there are.
const (
	// bindingsPerPage is how many RoleBindings are requested at a time.
	bindingsPerPage = 20
	// bindingPages is how many pages of RoleBindings are read, and what was found in them is handled, at a time.
	bindingPages = 4
	// pageTimeout bounds the time in which a page arrives.
	pageTimeout = 30 * time.Second
)

// Bindings reads RoleBindings as the API server has them now.
type Bindings interface {
	// RoleBindings calls found with the RoleBindings in a namespace that a label selector selects and that refer to a
	// Role for whose name refers returns true. Only what identifies them, their first finalizer and their roleRef are
	// set. It ends with the first error of found. An error for which apierrors.IsResourceExpired holds means that some
	// may be missing and that a new list may have them all.
	RoleBindings(ctx context.Context, namespace, selector string, refers func(role string) bool, found func(*rbacv1.RoleBinding) error) error
}

// RoleBindings implements Bindings. It reads pages, of which each RoleBinding is in memory for itself.
func (r *Reader) RoleBindings(ctx context.Context, namespace, selector string, refers func(string) bool, found func(*rbacv1.RoleBinding) error) error {
	if r == nil {
		return errors.New("there is no reader of RoleBindings")
	}
	o := metav1.ListOptions{LabelSelector: selector, Limit: bindingsPerPage}
	for {
		var err error
		if o.Continue, err = r.pageOfBindings(ctx, namespace, o, refers, found); err != nil || o.Continue == "" {
			return err
		}
	}
}

// pageOfBindings reads one page, and returns where the next one begins, "" if it is the last.
func (r *Reader) pageOfBindings(
	ctx context.Context, namespace string, o metav1.ListOptions, refers func(string) bool, found func(*rbacv1.RoleBinding) error,
) (next string, err error) {
	select {
	case r.bindingPages <- struct{}{}:
		defer func() { <-r.bindingPages }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	var bindings []*rbacv1.RoleBinding
	reading, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	meta, err := r.read(reading, copies.RoleBindings, namespace, o, func(o *wire.Object) {
		if o.Role == "" || !refers(o.Role) {
			return
		}
		bindings = append(bindings, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, DeletionTimestamp: o.DeletionTimestamp,
				Finalizers: append([]string(nil), o.Finalizers[:min(1, len(o.Finalizers))]...),
			},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: copies.Roles.Kind, Name: o.Role},
		})
	})
	if err != nil {
		return "", err
	}
	for _, b := range bindings {
		if err := found(b); err != nil {
			return "", err
		}
	}
	return meta.Continue, nil
}
