package namespacestate

import (
	"maps"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
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
	path := reach(t, name)
	top := 1 // the nearest that does not follow its parent
	for top+1 < len(path) && follows(t, path[top], path[top+1]) {
		top++
	}
	set := managedPodSecurity(t, path)
	var above map[string]string
	for i := top; i > 0; i-- {
		above = podSecurity(t, path[i], above, set[i])
	}
	return inheritedPodSecurity(t, name, above, set[0])
}

// inheritedPodSecurity returns those labels of a namespace that follows its parent, which has the labels above, and of
// which set are the managed ones.
func inheritedPodSecurity(t *tree.Tree, name string, above, set map[string]string) map[string]string {
	inherited := map[string]string{}
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

// podSecurity returns the Pod Security labels of an existing namespace as they will be once the propagator has written
// them. Its parent has the labels above, nil if it does not follow the parent; set are the managed ones.
func podSecurity(t *tree.Tree, name string, above, set map[string]string) map[string]string {
	labels := map[string]string{}
	if above != nil {
		labels = inheritedPodSecurity(t, name, above, set)
	}
	for _, key := range hnc.PodSecurityLabels {
		if value, ok := set[key]; ok {
			labels[key] = value
			continue
		}
		if t.Keys().Label(key) || (above != nil && !pinned(t, name, key)) {
			continue
		}
		if value, ok := t.Namespace(name).Labels[key]; ok {
			labels[key] = value
		}
	}
	return labels
}

// managedPodSecurity returns the Pod Security labels that hierarchies set on the namespaces of a path that reach has
// returned. It reads each namespace once.
func managedPodSecurity(t *tree.Tree, path []string) []map[string]string {
	set := make([]map[string]string, len(path))
	if !slices.ContainsFunc(hnc.PodSecurityLabels, t.Keys().Label) {
		return set
	}
	above := &merged{room: maxManagedBytes}
	for i, name := range slices.Backward(path) {
		own, inherited := labelsOf(t.Own(name)), labelsOf(t.Inherited(name))
		here := merged{above: above, size: above.size, room: room(t, name)}
		here.add(own)
		here.add(inherited)
		set[i] = map[string]string{}
		for _, key := range hnc.PodSecurityLabels {
			if value, ok := here.get(key); ok {
				set[i][key] = value
			}
		}
		above.add(inherited)
	}
	return set
}

// followsPodSecurity reports whether the namespace is a sub-namespace below an effective parent. Without a
// Subnamespace, which users allowed to edit the parent can remove, it follows the parent but loses no label.
func followsPodSecurity(t *tree.Tree, name string) bool {
	if !t.InheritsPodSecurity() {
		return false
	}
	path := reach(t, name)
	return len(path) > 1 && follows(t, name, path[1])
}

// follows reports whether a namespace below an effective parent is a sub-namespace of it.
func follows(t *tree.Tree, name, parent string) bool {
	ns := t.Namespace(name)
	return t.Namespace(parent) != nil && (ns == nil || ns.SubnamespaceOf == parent)
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
