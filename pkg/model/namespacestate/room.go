package namespacestate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// maxManagedBytes bounds the labels, and the annotations, that hierarchies set on one Namespace: the bytes of their
// keys and values. Kubernetes has a limit of 256 KiB for the annotations of an object, and etcd one of 1.5 MiB for a
// request, which contains the keys of labels again as managed fields. A Namespace that exceeds one of them could not be
// written at all, and would keep the labels of an earlier tree.
const maxManagedBytes = 192 << 10

// labelsOf and annotationsOf pick one of two results.
func labelsOf(labels, _ map[string]string) map[string]string           { return labels }
func annotationsOf(_, annotations map[string]string) map[string]string { return annotations }

// levels returns the labels or annotations that are set on a namespace by its ancestors, the highest first, and by
// itself: in the order in which they win.
func levels(t *tree.Tree, name string, of func(labels, annotations map[string]string) map[string]string) []map[string]string {
	var all []map[string]string
	for _, at := range slices.Backward(reach(t, name)[1:]) {
		all = append(all, of(t.Inherited(at)))
	}
	return append(all, of(t.Own(name)), of(t.Inherited(name)))
}

// room returns how many bytes of labels, or of annotations, may be set on a namespace. An external one has most of them
// already, and no ancestors.
func room(t *tree.Tree, name string) int {
	if t.External(name) {
		return math.MaxInt
	}
	return maxManagedBytes
}

// fit merges levels, of which the first wins. It returns what has room in a number of bytes, the first levels first,
// and the keys that are left out, in order. A key that is left out is not taken from a later level.
func fit(levels []map[string]string, room int) (fits map[string]string, leftOut []string) {
	size := 0
	for _, level := range levels {
		for key, value := range level {
			size += len(key) + len(value)
		}
	}
	if size <= room {
		fits = map[string]string{}
		for _, level := range slices.Backward(levels) {
			maps.Copy(fits, level)
		}
		return fits, nil
	}
	all := merged{room: room}
	for _, level := range levels {
		all.add(level)
	}
	return all.fits, sets.List(all.leftOut)
}

// merged is what levels set, the first of which is the highest.
type merged struct {
	// above is what the levels above the first one set, nil for none. It must not change.
	above *merged
	// size is what fits, also above, and room what may fit, in bytes.
	size, room int
	fits       map[string]string
	leftOut    sets.Set[string]
}

// add adds the next level. There is always room for the few Pod Security labels: otherwise those who set other labels on
// ancestors could keep them out.
func (m *merged) add(level map[string]string) {
	if m.fits == nil {
		m.fits, m.leftOut = map[string]string{}, sets.New[string]()
	}
	for _, key := range slices.Sorted(maps.Keys(level)) {
		switch size := len(key) + len(level[key]); {
		case m.knows(key):
		case slices.Contains(hnc.PodSecurityLabels, key) && len(level[key]) <= validation.LabelValueMaxLength:
			m.fits[key] = level[key]
		case m.size+size > m.room:
			m.leftOut.Insert(key)
		default:
			m.size += size
			m.fits[key] = level[key]
		}
	}
}

// knows reports whether a level sets the key, whether there is room for it or not.
func (m *merged) knows(key string) bool {
	if m == nil {
		return false
	}
	_, fits := m.fits[key]
	return fits || m.leftOut.Has(key) || m.above.knows(key)
}

// get returns what a key is set to.
func (m *merged) get(key string) (value string, ok bool) {
	if m == nil {
		return "", false
	}
	if value, ok = m.fits[key]; ok {
		return value, true
	}
	return m.above.get(key)
}

// leftOut returns the condition of a namespace that has no room for all labels and annotations that hierarchies set on
// it.
func leftOut(t *tree.Tree, name string) []metav1.Condition {
	var found []metav1.Condition
	for _, c := range []struct {
		what string
		of   func(labels, annotations map[string]string) map[string]string
	}{{"labels", labelsOf}, {"annotations", annotationsOf}} {
		_, keys := fit(levels(t, name, c.of), room(t, name))
		if len(keys) == 0 {
			continue
		}
		message := fmt.Sprintf("not set on namespace %q: %s %s, because hierarchies set more than %d bytes of %s on it; remove some from %s, or from its ancestors",
			name, c.what, names.List(keys, listed, ", "), maxManagedBytes, c.what, where(t, name))
		if len(found) > 0 {
			found[0].Message += "; " + message
			continue
		}
		found = []metav1.Condition{{Type: hnc.ConditionOutOfSync, Reason: hnc.ReasonMetadataTooLarge, Message: message}}
	}
	return found
}

// LabelParts divides changes of a namespace's labels into writes that may fail independently, the most important first:
// removals, for which there is always room; what the propagator alone writes and Pod Security; what ancestors set; what
// the namespace itself sets.
func LabelParts(t *tree.Tree, name string, changes map[string]*string) []map[string]*string {
	parts := []map[string]*string{{}, {}, {}, {}}
	all, above := levels(t, name, labelsOf), map[string]string{}
	for _, level := range all[:len(all)-2] {
		maps.Copy(above, level)
	}
	for key, value := range changes {
		part := 3
		_, fromAbove := above[key]
		switch {
		case value == nil:
			part = 0
		case ours(key), slices.Contains(hnc.PodSecurityLabels, key):
			part = 1
		case fromAbove:
			part = 2
		}
		parts[part][key] = value
	}
	return slices.DeleteFunc(parts, func(part map[string]*string) bool { return len(part) == 0 })
}
