package migration

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// imports is what is created in hns-apiserver.
type imports struct {
	// resources are the configured kinds, nil if there is no configuration.
	resources   []v1beta1.ResourceSpec
	hierarchies []*v1beta1.Hierarchy
	// orphans are hierarchies with missing parents. They are created after the others: nothing can be moved below a
	// missing parent.
	orphans       []*v1beta1.Hierarchy
	subnamespaces []*v1beta1.Subnamespace
	quotas        []*v1beta1.HierarchicalResourceQuota
	// leftOut are HNC's objects, and parts of them, that are not imported, and notes is what users should look at: a
	// sentence for each.
	leftOut, notes []string

	// rules are those by which it is imported, namespaces all of the cluster, and parents those of the hierarchies.
	rules      *configrules.Rules
	namespaces map[string]namespace
	parents    map[string]string
}

// translation is the state of translate.
type translation struct {
	imports
	managed  managedkeys.Rules
	anchors  map[string]string // the parents, by sub-namespace
	specs    map[string]v1beta1.HierarchySpec
	metadata map[string]metav1.ObjectMeta
}

// translate returns what is imported of an export. It trusts what HNC has put in force, and not what users may have
// written meanwhile: a Subnamespace is imported for a namespace that exists and agrees, labels and annotations are
// imported where the namespace has them and the rules let hierarchies manage them, and status is ignored.
func translate(e *export, rules managedkeys.Rules) (*imports, error) {
	t := &translation{imports: imports{namespaces: map[string]namespace{}, parents: map[string]string{}}, managed: rules, anchors: map[string]string{}, specs: map[string]v1beta1.HierarchySpec{}, metadata: map[string]metav1.ObjectMeta{}}
	for _, ns := range e.Namespaces {
		t.namespaces[ns.Name] = ns
	}
	for _, part := range []func(*export) error{t.configuration, t.readAnchors, t.readHierarchies, t.readQuotas} {
		if err := part(e); err != nil {
			return nil, err
		}
	}
	t.breakCycles()
	t.order()
	slices.Sort(t.leftOut)
	slices.Sort(t.notes)
	return &t.imports, nil
}

// excluded reports whether a namespace is excluded from trees.
func (t *translation) excluded(name string) bool {
	return t.managed.Excluded(name, t.namespaces[name].Labels) != ""
}

func (t *translation) leaveOut(format string, args ...any) {
	t.leftOut = append(t.leftOut, fmt.Sprintf(format, args...))
}

func (t *translation) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// specOf reads the spec of an object of HNC, whose fields have the same names in v1beta1.
func specOf(object *unstructured.Unstructured, into any) error {
	spec, _, err := unstructured.NestedMap(object.Object, "spec")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(spec, into)
	}
	if err != nil {
		return fmt.Errorf("%s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

func (t *translation) configuration(e *export) error {
	for _, object := range e.of("HNCConfiguration") {
		var spec v1beta1.HNCConfigurationSpec
		if err := specOf(object, &spec); err != nil {
			return err
		}
		seen := map[string]bool{}
		t.resources = []v1beta1.ResourceSpec{}
		for _, r := range spec.Resources {
			key := r.Group + "/" + r.Resource
			if seen[key] {
				t.leaveOut("%s: the second entry for %s, which has no effect", configurationKey, r.Resource)
				continue
			}
			seen[key] = true
			t.resources = append(t.resources, r)
		}
	}
	return nil
}

// readAnchors imports the anchors whose namespaces agree. HNC's status of an anchor can be written by users.
func (t *translation) readAnchors(e *export) error {
	for _, object := range e.of("SubnamespaceAnchor") {
		name, parent := object.GetName(), object.GetNamespace()
		key := keyOf(anchors, parent, name)
		ns, exists := t.namespaces[name]
		switch {
		case object.GetDeletionTimestamp() != nil:
			t.leaveOut("%s: it is being deleted", key)
		case !exists:
			t.leaveOut("%s: namespace %s does not exist; create it again afterwards: kubectl hns create %s -n %s", key, name, name, parent)
		case ns.Annotations[hnc.AnnotationSubnamespaceOf] != parent:
			t.leaveOut("%s: namespace %s is not its sub-namespace", key, name)
		case t.excluded(name) || t.excluded(parent):
			t.leaveOut("%s: one of the namespaces is excluded from trees", key)
		case ns.Terminating || t.namespaces[parent].Terminating || managedkeys.External(ns.Annotations):
			t.leaveOut("%s: one of the namespaces is being deleted, or has another manager", key)
		default:
			var spec v1beta1.SubnamespaceSpec
			if err := specOf(object, &spec); err != nil {
				return err
			}
			spec.Labels = t.inForce(object, "label", spec.Labels, ns.Labels, t.managed.Label)
			spec.Annotations = t.inForce(object, "annotation", spec.Annotations, ns.Annotations, t.managed.Annotation)
			t.anchors[name] = parent
			t.subnamespaces = append(t.subnamespaces, &v1beta1.Subnamespace{ObjectMeta: metadataOf(object), Spec: spec})
		}
	}
	return nil
}

func (t *translation) readHierarchies(e *export) error {
	for _, object := range e.of("HierarchyConfiguration") {
		name := object.GetNamespace()
		ns, exists := t.namespaces[name]
		var spec v1beta1.HierarchySpec
		if err := specOf(object, &spec); err != nil {
			return err
		}
		switch {
		case !exists:
			t.leaveOut("%s: its namespace does not exist", hierarchyOf(name))
			continue
		case t.excluded(name):
			t.leaveOut("%s: the namespace is excluded from trees", hierarchyOf(name))
			continue
		case ns.Terminating || object.GetDeletionTimestamp() != nil && spec.Parent == "":
			t.leaveOut("%s: it is being deleted", hierarchyOf(name))
			continue
		}
		spec.Labels = t.inForce(object, "label", spec.Labels, ns.Labels, t.managed.Label)
		spec.Annotations = t.inForce(object, "annotation", spec.Annotations, ns.Annotations, t.managed.Annotation)
		t.specs[name], t.metadata[name] = spec, metadataOf(object)
	}
	for name, parent := range t.anchors {
		spec, ok := t.specs[name]
		if !ok {
			t.metadata[name] = metav1.ObjectMeta{Namespace: name, Name: hnc.Singleton}
		}
		spec.Parent = parent
		t.specs[name] = spec
	}
	for _, name := range slices.Sorted(maps.Keys(t.specs)) {
		t.validateParent(name)
	}
	return nil
}

// validateParent leaves out a parent that hns-apiserver does not accept, and notes one that an admin may want to look
// at.
func (t *translation) validateParent(name string) {
	spec, ns := t.specs[name], t.namespaces[name]
	_, exists := t.namespaces[spec.Parent]
	switch {
	case spec.Parent == "":
		return
	case managedkeys.External(ns.Annotations):
		t.leaveOut("%s: spec.parent %s, because the namespace is managed by %s", hierarchyOf(name), spec.Parent, managedkeys.Manager(ns.Annotations))
		spec.Parent = ""
	case t.excluded(spec.Parent):
		// HNC has halted it; a root would lose the copies that it has.
		old := spec.Parent
		spec.Parent = t.nonexistent(old, "-excluded")
		t.note("namespace %s: its parent %s is excluded from trees; it gets the parent %s, which does not exist, so that nothing changes in it or below it, as before; give it a parent: kubectl hns set %s",
			name, old, spec.Parent, name)
	case !exists:
		t.note("namespace %s: its parent %s does not exist; it gets the condition ParentMissing, as before", name, spec.Parent)
	case t.anchors[name] == "" && ns.Annotations[hnc.AnnotationSubnamespaceOf] != "":
		t.note("namespace %s: nobody in %s has confirmed by an anchor that it is a sub-namespace of %s; it keeps the parent %s; if it does not belong there: kubectl hns set %s --root",
			name, managedkeys.SubnamespaceOf(ns.Annotations), managedkeys.SubnamespaceOf(ns.Annotations), spec.Parent, name)
	}
	t.specs[name] = spec
}

// inForce returns the pairs whose keys are managed and the namespace has. HNC has ignored those that the namespace does
// not have, which were not managed; here they might be. Others were managed once, and stay on the namespace.
func (t *translation) inForce(object *unstructured.Unstructured, what string, pairs []v1beta1.MetaKVP, has map[string]string, managed func(key string) bool) []v1beta1.MetaKVP {
	var kept []v1beta1.MetaKVP
	for _, pair := range pairs {
		_, ok := has[pair.Key]
		var why string
		switch {
		case !ok:
			why = "which the namespace does not have"
		case !managed(pair.Key):
			why = "which hierarchies do not manage"
		case what == "label" && len(validation.IsValidLabelValue(pair.Value)) > 0:
			why = "whose value is invalid"
		default:
			kept = append(kept, pair)
			continue
		}
		t.leaveOut("%s: the %s %s, %s", keyOf(hncKinds[object.GetKind()], object.GetNamespace(), object.GetName()), what, pair.Key, why)
	}
	return kept
}

// metadataOf returns the name, and users' labels and annotations. Those of the group mean something to this API server,
// and the server itself sets them.
func metadataOf(object *unstructured.Unstructured) metav1.ObjectMeta {
	users := func(pairs map[string]string) map[string]string {
		maps.DeleteFunc(pairs, func(key, _ string) bool { return copies.Internal(key) })
		return pairs
	}
	return metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName(), Labels: users(object.GetLabels()), Annotations: users(object.GetAnnotations())}
}
