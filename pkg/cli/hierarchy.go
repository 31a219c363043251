package cli

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// getHierarchy returns a namespace's hierarchy; a missing one is empty, as in HNC's client.
func getHierarchy(ctx context.Context, c *Clients, namespace string) (*v1beta1.Hierarchy, error) {
	h, err := c.Hierarchy.HncV1beta1().Hierarchies(namespace).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !isUnserved(err) {
		h = &v1beta1.Hierarchy{}
		h.Name, h.Namespace = hnc.Singleton, namespace
		return h, nil
	}
	return h, err
}

// hierarchyChange holds the new values of properties of a hierarchy; nil leaves a property as it is.
type hierarchyChange struct {
	parent  *string
	cascade *bool
	// modes sets the modes of kinds.
	modes func(*v1beta1.HierarchySpec) error
}

// apply changes the parent and cascading deletion. It returns a message about both, in HNC's words, and how many of the
// two change.
func (want hierarchyChange) apply(h *v1beta1.Hierarchy) (messages []string, changes int) {
	if want.parent != nil {
		messages = append(messages, parentMessage(h.Namespace, h.Spec.Parent, *want.parent))
		if h.Spec.Parent != *want.parent {
			h.Spec.Parent = *want.parent
			changes++
		}
	}
	if want.cascade == nil {
		return messages, changes
	}
	allow := *want.cascade
	switch {
	case allow == ptr.Deref(h.Spec.AllowCascadingDeletion, false):
		return append(messages, fmt.Sprintf("Cascading deletion for '%s' is already set to %t; unchanged", h.Namespace, allow)), changes
	case allow:
		messages = append(messages, fmt.Sprintf("Allowing cascading deletion on '%s'", h.Namespace))
	default:
		messages = append(messages, fmt.Sprintf("Forbidding cascading deletion on '%s'", h.Namespace))
	}
	h.Spec.AllowCascadingDeletion = &allow
	return messages, changes + 1
}

func parentMessage(name, old, parent string) string {
	switch {
	case parent == "" && old == "":
		// HNC's client has the trailing space.
		return fmt.Sprintf("%s is already a root namespace; unchanged ", name)
	case parent == old:
		return fmt.Sprintf("Parent of %s is already %s; unchanged", name, parent)
	case parent == "":
		return fmt.Sprintf("Unsetting the parent of %s (was previously %s)", name, old)
	case old == "":
		return fmt.Sprintf("Setting the parent of %s to %s", name, parent)
	}
	return fmt.Sprintf("Changing the parent of %s from %s to %s", name, old, parent)
}

// writeHierarchy creates or updates a hierarchy. If it has been modified since it was read, for example by the
// propagator's status, the change is applied to the current one.
func writeHierarchy(ctx context.Context, c *Clients, h *v1beta1.Hierarchy, want hierarchyChange, dryRun *DryRunFlag) error {
	if dryRun.Client() {
		return nil
	}
	namespace := h.Namespace
	client := c.Hierarchy.HncV1beta1().Hierarchies(namespace)
	err := retryOnModified(func() (err error) {
		if h.ResourceVersion == "" {
			_, err = client.Create(ctx, h, metav1.CreateOptions{DryRun: dryRun.options()})
		} else {
			_, err = client.Update(ctx, h, metav1.UpdateOptions{DryRun: dryRun.options()})
		}
		if isModified(err) {
			latest, readErr := getHierarchy(ctx, c, namespace)
			if readErr != nil {
				return readErr
			}
			want.apply(latest)
			if want.modes != nil {
				if err := want.modes(&latest.Spec); err != nil {
					return err
				}
			}
			h = latest
		}
		return err
	})
	if err != nil {
		return &prefixedError{fmt.Sprintf("Could not update the hierarchical configuration of %s.", namespace), err}
	}
	return nil
}

// retryOnModified calls write, and again while it fails because the object has been modified since it was read.
func retryOnModified(write func() error) error {
	return retry.OnError(retry.DefaultBackoff, isModified, write)
}

// isModified distinguishes a conflict between two writers from one that the rules of the tree cause, for which
// IsConflict is true as well.
func isModified(err error) bool {
	return apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) && strings.Contains(ServerMessage(err), "the object has been modified")
}
