package namespacestate

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// managedLabels returns the managed labels of a namespace: those that it sets itself, and over them those that each
// ancestor sets, so that the highest one wins. Source: docs/spec/hnc.md 3.3, d.
func managedLabels(t *tree.Tree, name string) map[string]string { return managed(t, name, labelsOf) }

// ManagedAnnotations returns the managed annotations of a namespace. An external namespace keeps those that it has; its
// Hierarchy sets those of its descendants only.
func ManagedAnnotations(t *tree.Tree, name string) map[string]string {
	if t.Excluded(name) || t.External(name) {
		return map[string]string{}
	}
	return managed(t, name, annotationsOf)
}

func managed(t *tree.Tree, name string, of func(labels, annotations map[string]string) map[string]string) map[string]string {
	fits, _ := fit(levels(t, name, of), room(t, name))
	return fits
}

// AnnotationChanges returns how the annotations of an existing namespace have to change, as LabelChanges does.
func AnnotationChanges(t *tree.Tree, name string) map[string]*string {
	ns := t.Namespace(name)
	if ns == nil || ns.Terminating {
		return nil
	}
	patch := map[string]*string{}
	if !t.Excluded(name) && !t.External(name) {
		patch = changes(ns.Annotations, ManagedAnnotations(t, name), t.Keys().Annotation)
	}
	if followsPodSecurity(t, name) {
		switch recorded := EncodeLabels(InheritedPodSecurity(t, name)); recorded {
		case ns.InheritedPodSecurity:
		case "":
			patch[hnc.AnnotationInheritedPodSecurity] = nil
		default:
			patch[hnc.AnnotationInheritedPodSecurity] = &recorded
		}
	}
	set := func(key, present, wanted string) {
		switch wanted {
		case present:
		case "":
			patch[key] = nil
		default:
			patch[key] = &wanted
		}
	}
	set(hnc.AnnotationAncestry, ns.Ancestry, Ancestry(t, name))
	set(hnc.AnnotationAbstractAncestors, hnc.JoinAbstractAncestors(ns.Abstract), AbstractAncestors(t, name))
	if ns.ManagedBy != "" && !t.External(name) && !t.Excluded(name) {
		// The policy denies it, except before there are tree labels. It has no effect beside the parent, which
		// Kubernetes deletes before the namespace, but not before its users let it.
		patch[hnc.AnnotationManagedBy] = nil
	}
	return patch
}

// metadataProblems returns the conditions for labels and annotations that cannot be set on a namespace.
func metadataProblems(t *tree.Tree, name string) []metav1.Condition {
	said := t.Metadata(name)
	var found []metav1.Condition
	found = append(found, illegal(name, hnc.ReasonIllegalManagedLabel, "label", "managedNamespaceLabels", t.Keys().Label, said.Labels, said.NamespaceLabels)...)
	found = append(found, illegal(name, hnc.ReasonIllegalManagedAnnotation, "annotation", "managedNamespaceAnnotations", t.Keys().Annotation,
		said.Annotations, said.NamespaceAnnotations)...)

	var labels, annotations []string
	ownLabels, ownAnnotations := t.Inherited(name)
	plainLabels, plainAnnotations := t.Own(name)
	ownLabels = maps.Clone(tree.Over(plainLabels, ownLabels))
	ownAnnotations = maps.Clone(tree.Over(plainAnnotations, ownAnnotations))
	above := reach(t, name)[1:]
	for i := len(above) - 1; i >= 0; i-- { // the highest first: it wins
		inheritedLabels, inheritedAnnotations := t.Inherited(above[i])
		labels = append(labels, clashes("label", name, above[i], ownLabels, inheritedLabels)...)
		annotations = append(annotations, clashes("annotation", name, above[i], ownAnnotations, inheritedAnnotations)...)
	}
	for _, c := range []struct {
		reason  string
		clashes []string
	}{{hnc.ReasonManagedLabelConflict, labels}, {hnc.ReasonManagedAnnotationConflict, annotations}} {
		if len(c.clashes) > 0 {
			found = append(found, metav1.Condition{Type: hnc.ConditionBadConfiguration, Reason: c.reason,
				Message: names.List(c.clashes, listed, "; ") + fmt.Sprintf("; remove them from %s", where(t, name))})
		}
	}
	return append(found, leftOut(t, name)...)
}

// clashes describes the keys that the namespace itself and an ancestor set to different values. It removes them from
// own.
func clashes(what, name, ancestor string, own, inherited map[string]string) []string {
	var described []string
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if value, ok := inherited[key]; ok {
			if value != own[key] {
				described = append(described, fmt.Sprintf("%s %s is %q by namespace %q, but %q by its ancestor %q, which wins",
					what, key, names.Shorten(own[key]), name, names.Shorten(value), ancestor))
			}
			delete(own, key)
		}
	}
	return described
}

// where returns the object that specifies the labels and annotations of a namespace.
func where(t *tree.Tree, name string) string {
	if s := t.SubnamespaceFor(name); s != nil {
		return fmt.Sprintf("the Subnamespace %q in namespace %q", name, s.Parent)
	}
	return fmt.Sprintf("the hierarchy of namespace %q", name)
}

func illegal(name, reason, what, rule string, isManaged func(string) bool, lists ...[]v1beta1.MetaKVP) []metav1.Condition {
	var keys []string
	for _, pair := range slices.Concat(lists...) {
		if !isManaged(pair.Key) && !slices.Contains(keys, pair.Key) {
			keys = append(keys, pair.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return []metav1.Condition{{Type: hnc.ConditionBadConfiguration, Reason: reason,
		Message: fmt.Sprintf("not set on namespace %q: %s %s, which is not managed; remove it, or ask the administrator to add it to spec.rules.%s of hncconfigurations %q",
			name, what, names.List(keys, listed, ", "), rule, hnc.ConfigurationName)}}
}
