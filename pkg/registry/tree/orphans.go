package tree

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// maxOrphans bounds how many namespaces the authorizer is asked about for one claim.
const maxOrphans = 100

// orphans returns the live namespaces that name a missing namespace as their parent. The write compares the mark of the name, so that no
// namespace can come to name it until then. Names that nobody has ever named take no read: their mark does not exist.
func (v *view) orphans(ctx context.Context, name string) ([]string, error) {
	children := v.tree.Children(name)
	v.marks[name] = 0
	if v.fresh || len(children) > 0 {
		mark, err := v.tree.Edges.Mark(ctx, name)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		// The mark is read before the index: what the index does not contain yet changes the mark.
		v.marks[name] = mark
		if err := v.tree.Catch(ctx); err != nil {
			return nil, err
		}
		children = v.tree.Children(name)
	}
	namespaces, err := v.tree.Namespaces.List(labels.Everything())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	for _, namespace := range namespaces {
		if SubnamespaceOf(namespace) == name && !slices.Contains(children, namespace.Name) {
			children = append(children, namespace.Name)
		}
	}
	// The edges of the orphans are not compared: if one leaves meanwhile, the claim is still allowed.
	apart := newView(v.tree, v.fresh)
	var live []string
	for _, child := range children {
		namespace, err := apart.namespace(ctx, child)
		if err != nil {
			return nil, err
		}
		if namespace == nil {
			continue
		}
		edge, err := apart.edge(ctx, child)
		if err != nil {
			return nil, err
		}
		// A sub-namespace that has lost its place names the parent by its annotation, by which the parent can take it back.
		if edge.Parent == name || (edge.Parent == "" && SubnamespaceOf(namespace) == name) {
			live = append(live, child)
		}
	}
	return live, nil
}

// authorizeAdoption checks that the requester may create the missing parent of orphans as a sub-namespace, which takes them into the tree
// of its parent: that takes being admin of each of them. The propagator is not allowed to: it creates sub-namespaces on behalf of others.
func (t *Tree) authorizeAdoption(ctx context.Context, refused refusals, field, name string, orphans []string) error {
	if len(orphans) == 0 {
		return nil
	}
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errNoUser)
	}
	if user.GetName() == hnc.PropagatorUser {
		return refused.missingParent(field, name, orphans, "create the Subnamespace yourself, as a user with this right")
	}
	// The right in all namespaces is asked for first: it answers for any number of orphans.
	asked := append([]string{""}, orphans[:min(len(orphans), maxOrphans)]...)
	for i, orphan := range asked {
		_, may, err := t.may(ctx, "update", hnc.GroupName, orphan, "hierarchies", "hierarchyconfigurations")
		if err != nil {
			return err
		}
		if may && i == 0 {
			return nil
		}
		if !may && i > 0 {
			return refused.missingParent(field, name, orphans,
				fmt.Sprintf("user %q does not have it; choose another name, or have the admins of these namespaces choose another parent", user.GetName()))
		}
	}
	if len(orphans) > maxOrphans {
		return refused.missingParent(field, name, orphans,
			fmt.Sprintf("for more than %d namespaces it must be granted cluster-wide; choose another name", maxOrphans))
	}
	return nil
}

// missingParent says that a claimed name is the missing parent of orphans. It does not name them: the requester may have no rights on them.
func (r refusals) missingParent(field, name string, orphans []string, remedy string) error {
	return r.forbidden("%s: namespace %q does not exist but is the parent of %d existing namespace(s); to create it as a sub-namespace takes the verb "+
		"update on hierarchies.%s in each of them: %s", field, name, len(orphans), hnc.GroupName, remedy)
}
