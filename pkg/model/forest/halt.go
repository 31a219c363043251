package forest

import "slices"

// Cause is the reason why activities are halted at a namespace. Source: docs/spec/hnc.md 3.4.
type Cause string

const (
	// notHalted means that nothing is halted.
	notHalted Cause = ""
	// InCycle means that the namespace is its own ancestor. Only imported data contains cycles.
	InCycle Cause = "InCycle"
	// ParentMissing means that the namespace's parent does not exist.
	ParentMissing Cause = "ParentMissing"
	// IllegalParent means that the namespace's parent is excluded from hierarchies.
	IllegalParent Cause = "IllegalParent"
)

// Cycle returns the cycle that contains name, rotated so that the smallest name is first; nil if there is none.
func (f *Forest) Cycle(name string) []string {
	chain := f.Chain(name)
	if f.Parent(chain[len(chain)-1]) != name {
		return nil
	}
	first := slices.Index(chain, slices.Min(chain))
	return slices.Concat(chain[first:], chain[:first])
}

// cause returns why activities are halted at name itself.
func (f *Forest) cause(name string) Cause {
	if f.Parent(name) != "" && f.Cycle(name) != nil {
		return InCycle
	}
	return f.parentCause(name)
}

// parentCause returns the problem with the parent of a namespace outside any cycle.
func (f *Forest) parentCause(name string) Cause {
	parent := f.Parent(name)
	switch {
	case parent == "":
		return notHalted
	case f.excluded(parent):
		return IllegalParent
	case !f.Exists(parent):
		return ParentMissing
	}
	return notHalted
}

// HaltedAt returns the nearest namespace, from name upward, at which activities are halted, and why; "" if there is
// none. Nothing propagates from above that namespace.
func (f *Forest) HaltedAt(name string) (string, Cause) {
	chain, cause := f.Chain(name), f.cause
	if f.Parent(chain[len(chain)-1]) == "" {
		// The chain ends at a root, so no cycle needs to be checked. This function is on the hot path.
		cause = f.parentCause
	}
	for _, at := range chain {
		if cause := cause(at); cause != notHalted {
			return at, cause
		}
	}
	return "", notHalted
}
