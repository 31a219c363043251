package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// readChain reads the namespace and its ancestors: from the hierarchies, or from the tree labels where the user may not
// read these. It returns the hierarchies by namespace.
func readChain(ctx context.Context, c *Clients, q *origin.Question, namespace string) (map[string]*v1beta1.Hierarchy, error) {
	ns, err := c.namespaces.Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	hierarchies := map[string]*v1beta1.Hierarchy{}
	q.Labels, q.Terminating = ns.Labels, ns.DeletionTimestamp != nil
	read := prefetchHierarchies(ctx, c, labeledChain(ns))
	var chain []string
	for at := namespace; at != "" && !slices.Contains(chain, at); {
		chain = append(chain, at)
		h, err := read(at)
		if apierrors.IsForbidden(err) {
			if labeled := labeledChain(ns); len(labeled) > len(chain) {
				chain = labeled
			}
			break
		}
		if err != nil {
			return nil, err
		}
		if at == namespace {
			readConditions(q, h.Status.Details())
		}
		hierarchies[at] = h
		at = h.Spec.Parent
	}
	for _, name := range chain {
		q.Chain = append(q.Chain, origin.Namespace{Name: name})
	}
	return hierarchies, nil
}

// prefetchHierarchies reads the hierarchies of namespaces in parallel, and returns a function that returns them, and
// reads all others.
func prefetchHierarchies(ctx context.Context, c *Clients, namespaces []string) func(string) (*v1beta1.Hierarchy, error) {
	type result struct {
		hierarchy *v1beta1.Hierarchy
		err       error
	}
	results := make([]result, len(namespaces))
	_ = inParallel(ctx, len(namespaces), func(ctx context.Context, i int) error {
		results[i].hierarchy, results[i].err = getHierarchy(ctx, c, namespaces[i])
		return nil
	})
	return func(namespace string) (*v1beta1.Hierarchy, error) {
		if i := slices.Index(namespaces, namespace); i >= 0 {
			return results[i].hierarchy, results[i].err
		}
		return getHierarchy(ctx, c, namespace)
	}
}

func readConditions(q *origin.Question, conditions []metav1.Condition) {
	for i := range conditions {
		switch condition := &conditions[i]; {
		case condition.Type == hnc.ConditionActivitiesHalted && condition.Status == metav1.ConditionTrue:
			q.Halted = condition
		case condition.Reason == hnc.ReasonNamespaceExcluded:
			q.Excluded = "excluded from hierarchies"
		}
	}
}

// labeledChain returns the namespace and its ancestors, the root last, according to its tree labels.
func labeledChain(ns *metav1.PartialObjectMetadata) []string {
	distances, abstract := AncestorDistances(ns.Labels), hnc.AbstractAncestors(ns.Annotations)
	chain := slices.DeleteFunc(slices.Collect(maps.Keys(distances)), func(name string) bool { return slices.Contains(abstract, name) })
	slices.SortFunc(chain, func(a, b string) int { return distances[a] - distances[b] })
	return chain
}

// readObject reads the object in a namespace of the chain. If the user may not, it returns an error if the object is
// required, and notes the missing permission otherwise.
func readObject(ctx context.Context, c *Clients, resource schema.GroupVersionResource, name string, in *origin.Namespace, required bool) error {
	o, err := c.Dynamic.Resource(resource).Namespace(in.Name).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err) && !required:
		in.Unread = "missing permission: " + missingPermission(err)
		return nil
	case err != nil:
		return err
	}
	kind, _, _ := unstructured.NestedString(o.Object, "type")
	in.Object = &origin.Object{Labels: o.GetLabels(), Annotations: o.GetAnnotations(), Finalizers: o.GetFinalizers(), Type: kind}
	if ref, _, _ := unstructured.NestedString(o.Object, "roleRef", "kind"); ref == "Role" && resource.Group == rbacv1.GroupName {
		role, _, _ := unstructured.NestedString(o.Object, "roleRef", "name")
		in.Object.Role = &origin.Role{Name: role}
	}
	return nil
}

// readRoles reads the Roles that sources of RoleBindings in the chain refer to, in their namespaces and in the one in
// question. A missing permission is noted.
func readRoles(ctx context.Context, c *Clients, q *origin.Question) error {
	for i := range q.Chain {
		if i == 0 || q.Chain[i].Object == nil || q.Chain[i].Object.Role == nil {
			continue
		}
		role := q.Chain[i].Object.Role
		for namespace, from := range map[string]*string{q.Chain[i].Name: &role.There, q.Chain[0].Name: &role.Here} {
			o, err := c.Dynamic.Resource(rbacv1.SchemeGroupVersion.WithResource("roles")).Namespace(namespace).Get(ctx, role.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
			case apierrors.IsForbidden(err):
				role.Unread = "missing permission: " + missingPermission(err)
			case err != nil:
				return err
			default:
				if *from = namespace; o.GetLabels()[hnc.LabelInheritedFrom] != "" {
					*from = o.GetLabels()[hnc.LabelInheritedFrom]
				}
			}
		}
	}
	return nil
}

// maxEventsAbout bounds the events of a namespace that supplement an answer, which users with edit may write.
const maxEventsAbout = 10

// eventsAbout returns the propagator's latest events about the object, in the namespace and its ancestors. Events that
// cannot be read are left out: they only supplement the answer.
func eventsAbout(ctx context.Context, c *Clients, q *origin.Question) []string {
	found := make([][]corev1.Event, len(q.Chain))
	_ = inParallel(ctx, len(q.Chain), func(ctx context.Context, i int) error {
		selector := fields.Set{"involvedObject.kind": q.Kind, "involvedObject.name": q.Name, "source": hnc.GroupName}
		events, err := c.Kube.CoreV1().Events(q.Chain[i].Name).List(ctx, metav1.ListOptions{FieldSelector: selector.String()})
		if err == nil {
			found[i] = latestEvents(events.Items, time.Now())
		}
		return nil
	})
	var lines []string
	for i, events := range found {
		for _, e := range events[:min(len(events), maxEventsAbout)] {
			lines = append(lines, names.ShortenText(fmt.Sprintf("event in %s: %s: %s", e.Namespace, e.Reason, e.Message)))
		}
		if len(events) > maxEventsAbout {
			lines = append(lines, fmt.Sprintf("older events in %[1]s are left out; kubectl get events -n %[1]s shows them", q.Chain[i].Name))
		}
	}
	return lines
}
