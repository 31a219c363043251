package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

func (r *uiReader) Namespace(ctx context.Context, name string) (*ui.Namespace, error) {
	ns, err := r.clients.namespaces.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	q := &origin.Question{}
	hierarchies, err := readChain(ctx, r.clients, q, name)
	if err != nil {
		return nil, err
	}
	if err := readRules(ctx, r.clients, q); err != nil {
		return nil, err
	}
	node := &tree.Node{Name: name, Deleting: ns.DeletionTimestamp != nil}
	if len(q.Chain) > 1 {
		node.Parent = q.Chain[1].Name
	}
	answer := &ui.Namespace{Excluded: q.Excluded, Children: []ui.Child{}}
	if h := hierarchies[name]; h != nil {
		node.Conditions = tree.Problems(h.Status.Details())
		var note string
		if answer.Children, note, err = r.children(ctx, h); err != nil {
			return nil, err
		}
		if note != "" {
			answer.Notes = append(answer.Notes, note)
		}
	} else {
		answer.Notes = append(answer.Notes, "conditions and children are left out: missing permission: get hierarchies in namespace "+name)
	}
	answer.Member = newMember(ns, node)
	for i := len(q.Chain) - 1; i >= 0; i-- {
		answer.Path = append(answer.Path, q.Chain[i].Name)
	}
	if h := hierarchies[answer.Path[0]]; h != nil {
		answer.AbstractAncestors = h.Spec.AbstractAncestors
	}
	answer.AllowsCascadingDeletion = ns.Labels[hnc.LabelCascadingDeletion] == hnc.CascadingAllowed
	for _, above := range q.Chain {
		if h := hierarchies[above.Name]; h != nil && ptr.Deref(h.Spec.AllowCascadingDeletion, false) {
			answer.AllowsCascadingDeletion, answer.CascadingDeletionSetFrom = true, above.Name
			break
		}
	}
	answer.LabelsFrom = labelsFrom(ns.Labels, q.Chain, hierarchies)
	answer.Resources, err = r.propagated(ctx, hierarchies)
	if err != nil {
		answer.Notes = append(answer.Notes, "kinds of the cluster's configuration are left out: missing permission: "+missingPermission(err))
	}
	return answer, nil
}

// children returns the children of a namespace, and Subnamespaces that are not children. note says what could not be
// read.
func (r *uiReader) children(ctx context.Context, h *v1beta1.Hierarchy) (children []ui.Child, note string, err error) {
	subs, err := r.clients.Hierarchy.HncV1beta1().Subnamespaces(h.Namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		note = "which children are sub-namespaces, and their states, are left out: missing permission: " + missingPermission(err)
	} else if err != nil {
		return nil, "", err
	}
	byName := map[string]*ui.Child{}
	for _, name := range h.Status.Children {
		byName[name] = &ui.Child{Name: name}
	}
	if err == nil {
		for i := range subs.Items {
			s := &subs.Items[i]
			byName[s.Name] = &ui.Child{Name: s.Name, Subnamespace: true, State: string(s.Status.State)}
		}
	}
	children = make([]ui.Child, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		children = append(children, *byName[name])
	}
	return children, note, nil
}

// labelsFrom returns what sets each label: the labels of the hierarchy nearest to the root take precedence, those for
// one namespace over those that it passes on. chain begins with the namespace.
func labelsFrom(labels map[string]string, chain []origin.Namespace, hierarchies map[string]*v1beta1.Hierarchy) []ui.Label {
	has := func(list []v1beta1.MetaKVP, key string) bool {
		return slices.ContainsFunc(list, func(kvp v1beta1.MetaKVP) bool { return kvp.Key == key })
	}
	result := make([]ui.Label, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		label := ui.Label{Key: key, Value: labels[key]}
		_, label.Tree = hnc.TreeLabelAncestor(key)
		label.Tree = label.Tree || slices.Contains(projectedLabels, key)
		for i := len(chain) - 1; i >= 0 && label.From == "" && !label.Tree; i-- {
			h := hierarchies[chain[i].Name]
			if h != nil && (has(h.Spec.Labels, key) || i == 0 && has(h.Spec.NamespaceLabels, key)) {
				label.From = chain[i].Name
			}
		}
		result = append(result, label)
	}
	return result
}

// propagated returns the names of the resources with a mode. With an error it returns those that are known without the
// configuration.
func (r *uiReader) propagated(ctx context.Context, hierarchies map[string]*v1beta1.Hierarchy) ([]string, error) {
	found := sets.New[string]()
	for _, resource := range kinds.Enforced {
		found.Insert(resource.String())
	}
	for _, h := range hierarchies {
		for _, spec := range h.Spec.Propagation {
			found.Insert(schema.GroupResource{Group: spec.Group, Resource: spec.Resource}.String())
		}
	}
	config, err := GetConfiguration(ctx, r.clients)
	if err == nil {
		for _, status := range config.Status.Resources {
			found.Insert(schema.GroupResource{Group: status.Group, Resource: status.Resource}.String())
		}
	}
	return sets.List(found), err
}

func (r *uiReader) Objects(ctx context.Context, namespace, resource string) (*ui.Objects, error) {
	mapping, err := r.factory.Mapping(resource)
	if err != nil {
		return nil, err
	}
	q := &origin.Question{Resource: mapping.Resource.GroupResource(), Kind: mapping.GroupVersionKind.Kind}
	if err := readQuestion(ctx, r.factory, r.clients, q, namespace); err != nil {
		return nil, err
	}
	answer := &ui.Objects{Mode: string(q.Chain[0].Mode.Mode)}
	if why := q.Chain[0].Mode.Unread; why != "" {
		answer.Notes = append(answer.Notes, "the mode is not known: "+why)
	}
	lists := make([]*metav1.PartialObjectMetadataList, len(q.Chain))
	notes := make([]string, len(q.Chain))
	err = inParallel(ctx, len(q.Chain), func(ctx context.Context, i int) error {
		above := q.Chain[i].Name
		list, err := r.clients.metadata.Resource(mapping.Resource).Namespace(above).List(ctx, metav1.ListOptions{Limit: maxUIObjects})
		if apierrors.IsForbidden(err) && i > 0 {
			notes[i] = "objects in " + above + " are left out: missing permission: " + missingPermission(err)
			return nil
		}
		if err == nil && list.Continue != "" {
			notes[i] = fmt.Sprintf("only the first %d objects in %s are read", maxUIObjects, above)
		}
		lists[i] = list
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		if note != "" {
			answer.Notes = append(answer.Notes, note)
		}
	}
	answer.Items = objectsIn(q.Chain, lists)
	return answer, nil
}

// maxUIObjects bounds the objects of a kind that are read in each namespace for a page.
const maxUIObjects = 5000

// objectsIn returns the objects of the first namespace of a chain, and those in its ancestors that are not there, with
// shortened names. Lists are in the order of names; one that may not be read is nil.
func objectsIn(chain []origin.Namespace, lists []*metav1.PartialObjectMetadataList) []ui.Object {
	// What is behind the last name of an incomplete list may be there.
	last := ""
	if list := lists[0]; list.Continue != "" && len(list.Items) > 0 {
		last = list.Items[len(list.Items)-1].Name
	}
	byName := map[string]ui.Object{}
	// From the namespace to its root: the source nearest to the root takes precedence.
	for i, list := range lists {
		if list == nil {
			continue
		}
		above := chain[i]
		for j := range list.Items {
			o := &list.Items[j]
			source := o.Labels[hnc.LabelInheritedFrom]
			switch known, here := byName[o.Name]; {
			case i == 0 && source != "":
				byName[o.Name] = ui.Object{Name: o.Name, State: origin.Copy, Source: source}
			case i == 0:
				byName[o.Name] = ui.Object{Name: o.Name, State: origin.Local, Override: o.Annotations[hnc.AnnotationOverride] == "true"}
			case last != "" && o.Name > last:
			case source == "" && (!here || known.State == origin.Absent):
				byName[o.Name] = ui.Object{Name: o.Name, State: origin.Absent, Source: above.Name}
			}
		}
	}
	items := make([]ui.Object, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		o := byName[name]
		o.Name = names.Shorten(name)
		items = append(items, o)
	}
	return items
}

func (r *uiReader) Explain(ctx context.Context, namespace, resource, name string) (*ui.Explanation, error) {
	mapping, err := r.factory.Mapping(resource)
	if err != nil {
		return nil, err
	}
	q, answer, err := explain(ctx, r.factory, r.clients, mapping, namespace, name)
	if err != nil {
		return nil, err
	}
	explanation := &ui.Explanation{Answer: answer}
	for i := range q.Chain {
		above := &q.Chain[i]
		level := ui.Level{Namespace: above.Name, Mode: string(above.Mode.Mode), Unread: above.Unread}
		if above.Object != nil {
			level.State, level.Source = origin.Local, above.Object.Labels[hnc.LabelInheritedFrom]
			if level.Source != "" {
				level.State = origin.Copy
			}
		} else if above.Unread == "" {
			level.State = origin.Absent
		}
		explanation.Levels = append(explanation.Levels, level)
	}
	return explanation, nil
}

const olderServers = "The cluster's servers are older than this plugin"

func (r *uiReader) Problem(err error) ui.Problem {
	p := ui.Problem{Detail: ServerMessage(err), MissingPermission: missingPermission(err)}
	if p.MissingPermission == "" {
		p.Hint = hintFor(r.factory, err)
	}
	switch {
	case errors.Is(err, ui.ErrPlanChanged):
		p.Title, p.Hint = "The plan has changed", "Close this, and look at what the change would do now."
	case apierrors.IsForbidden(err):
		p.Title = "You may not see this"
	case isUnserved(err) && r.factory.serves(v1beta1.SchemeGroupVersion):
		p.Title, p.Hint = olderServers, "Upgrade the servers, or use the plugin of their version."
	case isUnserved(err) && r.factory.serves(v1alpha2.SchemeGroupVersion):
		p.Title = olderServers
	case isUnserved(err):
		p.Title = "The cluster does not serve hierarchies"
	case apierrors.IsNotFound(err):
		p.Title = "It does not exist"
	case apierrors.IsBadRequest(err), apierrors.IsInvalid(err):
		p.Title = "The input is not valid"
	case apierrors.IsUnauthorized(err):
		p.Title = "The cluster does not know you"
	case errors.As(err, new(apierrors.APIStatus)):
		p.Title = "The cluster does not answer the question"
	default:
		p.Title = "The cluster cannot be reached"
		p.Hint = cmp.Or(p.Hint, "The page tries again by itself. Look with: kubectl cluster-info")
	}
	return p
}
