package desired

import (
	"maps"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// A sub-namespace has the Pod Security labels of its parent, and an annotation that records them. A label whose value
// is not the recorded one was written by a user who may update the namespace: it is pinned, and stays until it is
// removed. Only the propagator writes the record.

// InheritedPodSecurity returns the Pod Security labels that a namespace inherits from its parent, without those that
// are pinned or set by hierarchies.
func InheritedPodSecurity(t *tree.Tree, name string) map[string]string {
	if !followsPodSecurity(t, name) {
		return map[string]string{}
	}
	return inheritedPodSecurity(t, name, managedLabels(t, name))
}

// inheritedPodSecurity returns those labels of a namespace that follows its parent, and of which set are the managed ones.
// Each namespace above is visited once.
func inheritedPodSecurity(t *tree.Tree, name string, set map[string]string) map[string]string {
	inherited, above := map[string]string{}, podSecurity(t, t.Parent(name))
	if ns := t.Namespace(name); t.Orphaned(name) {
		// The parent may have been created again.
		for key, value := range decodeLabels(ns.InheritedPodSecurity) {
			if _, ok := above[key]; !ok && ns.Labels[key] == value {
				above[key] = value
			}
		}
	}
	for key, value := range above {
		if _, ok := set[key]; !ok && !pinned(t, name, key) {
			inherited[key] = value
		}
	}
	return inherited
}

// podSecurity returns the Pod Security labels of a namespace as they will be once the propagator has written them.
func podSecurity(t *tree.Tree, name string) map[string]string {
	labels, follows := map[string]string{}, followsPodSecurity(t, name)
	ns, set := t.Namespace(name), managedLabels(t, name)
	if follows {
		labels = inheritedPodSecurity(t, name, set)
	}
	for _, key := range hnc.PodSecurityLabels {
		if value, ok := set[key]; ok {
			labels[key] = value
			continue
		}
		if ns == nil || t.Keys().Label(key) || (follows && !pinned(t, name, key)) {
			continue
		}
		if value, ok := ns.Labels[key]; ok {
			labels[key] = value
		}
	}
	return labels
}

// followsPodSecurity reports whether the namespace is a sub-namespace below an effective parent. Without a
// Subnamespace, which users allowed to edit the parent can remove, it follows the parent but loses no label.
func followsPodSecurity(t *tree.Tree, name string) bool {
	parent := t.Parent(name)
	if !t.InheritsPodSecurity() || parent == "" || t.Namespace(parent) == nil || len(reach(t, name)) < 2 {
		return false
	}
	ns := t.Namespace(name)
	return ns == nil || ns.SubnamespaceOf == parent
}

// pinned reports whether a user has written a Pod Security label of a namespace. Labels that hierarchies set can't be
// pinned.
func pinned(t *tree.Tree, name, key string) bool {
	ns := t.Namespace(name)
	if ns == nil || t.Keys().Label(key) {
		return false
	}
	value, ok := ns.Labels[key]
	recorded, inherited := decodeLabels(ns.InheritedPodSecurity)[key]
	return ok && (!inherited || recorded != value)
}

// outdatedPodSecurity reports whether a label of a namespace is an inherited one, which is removed when the parent
// loses it.
func outdatedPodSecurity(t *tree.Tree, name, key string) bool {
	return slices.Contains(hnc.PodSecurityLabels, key) && followsPodSecurity(t, name) && !pinned(t, name, key)
}

// EncodeLabels formats labels for the annotation that records them, "" for none.
func EncodeLabels(labels map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

func decodeLabels(recorded string) map[string]string {
	labels := map[string]string{}
	for pair := range strings.SplitSeq(recorded, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			labels[key] = value
		}
	}
	return labels
}
