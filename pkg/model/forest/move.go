package forest

import (
	"fmt"
	"slices"
	"strings"
)

// MoveError explains why a namespace cannot have a parent.
type MoveError struct {
	// reason is the rule that the move would break.
	reason moveReason
	// name and parent are the namespace and the rejected parent.
	name, parent string
	// chain is the parent's chain, the root last.
	chain []string
	// height is the number of levels below name.
	height int
}

// moveReason is a rule of the forest.
type moveReason string

const (
	// selfParent means that a namespace cannot be its own parent.
	selfParent moveReason = "SelfParent"
	// descendantParent means that the parent is a descendant of the namespace.
	descendantParent moveReason = "Cycle"
	// tooDeep means that the namespace would be too far from its root.
	tooDeep moveReason = "TooDeep"
)

// Error names the namespaces and suggests a fix.
func (e *MoveError) Error() string {
	switch e.reason {
	case selfParent:
		return fmt.Sprintf("namespace %q cannot be its own parent; name another namespace, or none to make it a root", e.name)
	case descendantParent:
		path := e.chain[:slices.Index(e.chain, e.name)+1]
		return fmt.Sprintf("namespace %q cannot be below %q, which is its descendant (%s); move %q out of %q first",
			e.name, e.parent, strings.Join(path, " <- "), e.parent, e.name)
	default:
		whose := "its chain of ancestors"
		if e.height > 0 {
			whose = "the longest chain of a descendant"
		}
		return fmt.Sprintf("namespace %q cannot be below %q: %s would have %d namespaces, and a tree may be %d deep; choose a parent closer to the root %q",
			e.name, e.parent, whose, len(e.chain)+1+e.height, maxDepth, e.chain[len(e.chain)-1])
	}
}

// CheckMove validates a parent with the given chain, the root last, for name, which has a number of levels below. It
// returns nil or a *MoveError.
func CheckMove(name string, height int, chain []string) error {
	if len(chain) == 0 {
		return nil
	}
	refuse := func(reason moveReason) error {
		return &MoveError{reason: reason, name: name, parent: chain[0], chain: chain, height: height}
	}
	switch {
	case chain[0] == name:
		return refuse(selfParent)
	case slices.Contains(chain, name):
		return refuse(descendantParent)
	case len(chain)+1+height > maxDepth:
		return refuse(tooDeep)
	}
	return nil
}
