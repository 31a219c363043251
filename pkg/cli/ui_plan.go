package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/preview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

func (r *uiReader) Plan(ctx context.Context, namespace string, change ui.Change) (*ui.Plan, error) {
	if err := validateChange(change); err != nil {
		return nil, err
	}
	ns, err := r.clients.namespaces.Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	parent := subnamespaceOf(ns)
	plan := &ui.Plan{Make: command(namespace, parent, change), Writable: change.Kind != ui.ChangeDelete || parent != "", Namespace: ns.UID}
	if change.Kind == ui.ChangeDelete && parent != "" {
		sub, err := r.clients.Hierarchy.HncV1beta1().Subnamespaces(parent).Get(ctx, namespace, metav1.GetOptions{})
		switch {
		case err == nil:
			plan.Subnamespace = sub.UID
		case !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err):
			return nil, err
		}
	}
	var spec v1alpha3.HierarchyPlanSpec
	switch change.Kind {
	case ui.ChangeMove:
		spec = v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: change.Parent}
		plan.See = fmt.Sprintf("kubectl hns plan %s --parent %s", namespace, change.Parent)
	case ui.ChangeRoot:
		spec.Change = v1alpha3.ChangeParent
		plan.See = fmt.Sprintf("kubectl hns plan %s --root", namespace)
	case ui.ChangeDelete:
		spec.Change = v1alpha3.ChangeDelete
		plan.See = fmt.Sprintf("kubectl hns plan %s --delete", namespace)
	case ui.ChangeMode:
		spec.Change = v1alpha3.ChangePropagation
		plan.See = fmt.Sprintf("kubectl hns plan %s --mode %s", namespace, names.ShellWord(mode(change)))
		o := &planOptions{namespace: namespace, modes: []string{mode(change)}}
		if spec.Resources, err = o.resources(ctx, r.clients); err != nil {
			return nil, err
		}
	default:
		return r.dryRun(ctx, namespace, change, plan)
	}
	answer, err := readPlan(ctx, r.clients, namespace, spec)
	if err != nil {
		return nil, err
	}
	plan.Summary, plan.Status = preview.Summary(namespace, answer), answer.Status
	if change.Kind == ui.ChangeMode {
		plan.Summary = fmt.Sprintf("Giving %s the mode %s from %s down would %s.", change.Resource, canonicalMode(change.Mode), namespace, preview.Outcome(answer))
	}
	return plan, nil
}

// dryRun completes the plan of a change that affects no objects: the server validates it.
func (r *uiReader) dryRun(ctx context.Context, namespace string, change ui.Change, plan *ui.Plan) (*ui.Plan, error) {
	plan.Summary = map[ui.ChangeKind]string{
		ui.ChangeChild:  fmt.Sprintf("A sub-namespace %s would be created below %s, with copies of everything that it inherits.", change.Child, namespace),
		ui.ChangeAllow:  fmt.Sprintf("Deleting %s would delete its sub-namespaces as well.", namespace),
		ui.ChangeForbid: fmt.Sprintf("Deleting %s would be rejected while it has sub-namespaces.", namespace),
	}[change.Kind]
	plan.See = plan.Make + " --dry-run=server"
	err := r.write(ctx, namespace, change, "", "server")
	switch reason := apierrors.ReasonForError(err); {
	case err == nil:
	case reason == metav1.StatusReasonUnknown || apierrors.IsServiceUnavailable(err) || isUnserved(err):
		return nil, err
	default:
		plan.Status.Refusals = []v1alpha3.PlannedRefusal{{Reason: reason, Message: ServerMessage(err)}}
	}
	return plan, nil
}

// Apply makes a change that has been planned. A deletion must repeat the name of the namespace.
func (r *uiReader) Apply(ctx context.Context, namespace string, change ui.Change, subnamespace types.UID) error {
	if change.Kind == ui.ChangeDelete && change.Confirm != namespace {
		return apierrors.NewBadRequest("confirm: the name of the namespace is required to delete it")
	}
	return r.write(ctx, namespace, change, subnamespace, "none")
}

// write makes a change, or has the server validate it. subnamespace is what a deletion deletes, "" if that is not
// known.
func (r *uiReader) write(ctx context.Context, namespace string, change ui.Change, subnamespace types.UID, dryRun DryRunFlag) error {
	client := r.clients.Hierarchy.HncV1beta1()
	switch change.Kind {
	case ui.ChangeMove, ui.ChangeRoot:
		_, err := patchParent(ctx, r.clients, namespace, change.Parent, dryRun.options())
		return err
	case ui.ChangeDelete:
		ns, err := r.clients.namespaces.Get(ctx, namespace, metav1.GetOptions{})
		if err != nil {
			return err
		}
		parent := subnamespaceOf(ns)
		if parent == "" {
			return apierrors.NewBadRequest("the page deletes sub-namespaces only; delete the namespace with kubectl")
		}
		options := metav1.DeleteOptions{DryRun: dryRun.options()}
		if subnamespace != "" {
			options.Preconditions = metav1.NewUIDPreconditions(string(subnamespace))
		}
		return client.Subnamespaces(parent).Delete(ctx, namespace, options)
	case ui.ChangeChild:
		sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: change.Child, Namespace: namespace}}
		_, err := client.Subnamespaces(namespace).Create(ctx, sub, metav1.CreateOptions{DryRun: dryRun.options()})
		return err
	}
	h, err := getHierarchy(ctx, r.clients, namespace)
	if err != nil {
		return err
	}
	want := hierarchyChange{}
	if change.Kind == ui.ChangeMode {
		entries, err := parseModes([]string{mode(change)})
		if err != nil {
			return err
		}
		want.modes = func(spec *v1beta1.HierarchySpec) (err error) {
			spec.Propagation, err = r.factory.withModes(spec.Propagation, entries)
			return err
		}
		if err := want.modes(&h.Spec); err != nil {
			return err
		}
	} else {
		want.cascade = ptr.To(change.Kind == ui.ChangeAllow)
	}
	want.apply(h)
	err = writeHierarchy(ctx, r.clients, h, want, &dryRun)
	if prefixed := (*prefixedError)(nil); errors.As(err, &prefixed) {
		return prefixed.err
	}
	return err
}

// subnamespaceOf returns the parent that a sub-namespace belongs to, "" for other namespaces, and before it has its
// tree labels.
func subnamespaceOf(ns *metav1.PartialObjectMetadata) string {
	// Who creates a namespace may annotate it with anything.
	parent := managedkeys.SubnamespaceOf(ns.Annotations)
	if parent != hnc.LabeledParent(ns.Name, ns.Labels, hnc.AbstractAncestors(ns.Annotations)) {
		return ""
	}
	return parent
}

func mode(change ui.Change) string { return change.Resource + "=" + change.Mode }

// validateChange returns an error for fields that cannot be right. The server validates the rest.
func validateChange(change ui.Change) error {
	var err error
	switch change.Kind {
	case ui.ChangeMove:
		err = ValidateNamespace(change.Parent)
	case ui.ChangeChild:
		err = ValidateNamespace(change.Child)
	case ui.ChangeMode:
		_, err = parseModes([]string{mode(change)})
	case ui.ChangeRoot:
		if change.Parent != "" {
			err = errors.New("a root has no parent")
		}
	default:
		if !slices.Contains([]ui.ChangeKind{ui.ChangeDelete, ui.ChangeAllow, ui.ChangeForbid}, change.Kind) {
			err = fmt.Errorf("change: there is no change %q", change.Kind)
		}
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// command returns the command that makes a change. parent is that of a sub-namespace.
func command(namespace, parent string, change ui.Change) string {
	switch change.Kind {
	case ui.ChangeMove:
		return fmt.Sprintf("kubectl hns move %s %s", namespace, change.Parent)
	case ui.ChangeRoot:
		return fmt.Sprintf("kubectl hns move %s --root", namespace)
	case ui.ChangeChild:
		return fmt.Sprintf("kubectl hns create %s -n %s", change.Child, namespace)
	case ui.ChangeAllow:
		return fmt.Sprintf("kubectl hns set %s --allow-cascading-deletion", namespace)
	case ui.ChangeForbid:
		return fmt.Sprintf("kubectl hns set %s --forbid-cascading-deletion", namespace)
	case ui.ChangeMode:
		return fmt.Sprintf("kubectl edit hierarchies.%s %s -n %s", hnc.GroupName, hnc.Singleton, namespace)
	}
	if parent == "" {
		return "kubectl delete namespace " + namespace
	}
	return fmt.Sprintf("kubectl hns delete %s -n %s", namespace, parent)
}
