package treerules

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// edgeValue is the value of an edge, which links a namespace to its parent. The edge is stored beside the objects that
// hold it: a Hierarchy in the namespace, a Subnamespace in its parent, or both. It exists as long as an object holds
// it, and is written in the same transaction as the object. So edges always agree with objects, and a chain of edges is
// cheap to compare.
type edgeValue struct {
	// Parent is the parent namespace.
	Parent string `json:"parent"`
	// Hierarchy is the UID of the namespace whose Hierarchy holds the edge; empty if none does.
	Hierarchy types.UID `json:"hierarchy,omitempty"`
	// Subnamespace is the UID of the parent namespace whose Subnamespace holds the edge; empty if none does.
	Subnamespace types.UID `json:"subnamespace,omitempty"`
}

func (e edgeValue) held() bool { return e.Hierarchy != "" || e.Subnamespace != "" }

// gives reports whether an edge without void holders gives an existing namespace its parent: its Hierarchy holds the
// edge, or a Subnamespace whose sub-namespace it is.
func (e edgeValue) gives(namespace *corev1.Namespace) bool {
	return e.Hierarchy != "" || (e.Subnamespace != "" && isSubnamespace(namespace, e.Parent))
}

// stored is an edge and the revision of its last change. The zero value is an edge that does not exist.
type stored struct {
	edgeValue
	revision int64
}

func decode(entry fence.Entry) (stored, error) {
	s := stored{revision: entry.Revision}
	if entry.Value == nil {
		return s, nil
	}
	if err := json.Unmarshal(entry.Value, &s.edgeValue); err != nil {
		return stored{}, fmt.Errorf("the edge of namespace %q can't be read: %w", entry.Name, err)
	}
	return s, nil
}

// write makes the guarded write put the edge of a namespace, or delete it if no object holds it.
func (e edgeValue) write(guard *fence.Guard, name string) {
	if !e.held() {
		guard.Delete = append(guard.Delete, name)
		return
	}
	value, err := json.Marshal(e)
	if err != nil {
		panic(err) // a struct of strings
	}
	guard.Put = map[string][]byte{name: value}
}
