package forest

import (
	"fmt"
	"slices"
	"strings"
)

// MoveError explains why a namespace cannot have a parent.
type MoveError struct {
	// Reason is the rule that the move would break.
	Reason MoveReason
	// Name and Parent are the namespace and the rejected parent.
	Name, Parent string
	// Chain is the parent's chain, the root last.
	Chain []string
}

// MoveReason is a rule of the forest.
type MoveReason string

const (
	// SelfParent means that a namespace cannot be its own parent.
	SelfParent MoveReason = "SelfParent"
	// Cycle means that the parent is a descendant of the namespace.
	Cycle MoveReason = "Cycle"
	// TooDeep means that the namespace would be too far from its root.
	TooDeep MoveReason = "TooDeep"
)

// Error names the namespaces and suggests a fix.
func (e *MoveError) Error() string {
	switch e.Reason {
	case SelfParent:
		return fmt.Sprintf("namespace %q cannot be its own parent; name another namespace, or none to make it a root", e.Name)
	case Cycle:
		path := e.Chain[:slices.Index(e.Chain, e.Name)+1]
		return fmt.Sprintf("namespace %q cannot be below %q, which is its descendant (%s); move %q out of %q first",
			e.Name, e.Parent, strings.Join(path, " <- "), e.Parent, e.Name)
	default:
		return fmt.Sprintf("namespace %q cannot be below %q: its chain of ancestors would have %d namespaces, and a tree may be %d deep; choose a parent closer to the root %q",
			e.Name, e.Parent, len(e.Chain)+1, MaxDepth, e.Chain[len(e.Chain)-1])
	}
}

// CheckMove validates a parent with the given chain, the root last, for name. It returns nil or a *MoveError. It does
// not check the height of the subtree below name.
func CheckMove(name string, chain []string) error {
	if len(chain) == 0 {
		return nil
	}
	refuse := func(reason MoveReason) error {
		return &MoveError{Reason: reason, Name: name, Parent: chain[0], Chain: chain}
	}
	switch {
	case chain[0] == name:
		return refuse(SelfParent)
	case slices.Contains(chain, name):
		return refuse(Cycle)
	case len(chain)+1 > MaxDepth:
		return refuse(TooDeep)
	}
	return nil
}
