package forest

import "slices"

// Cause says why activities are halted at a namespace. Source: spec/hnc.md 3.4.
type Cause string

const (
	// NotHalted is the cause of a namespace at which nothing is halted.
	NotHalted Cause = ""
	// InCycle says that the namespace is its own ancestor. Only imported data can say so.
	InCycle Cause = "InCycle"
	// ParentMissing says that the namespace's parent does not exist.
	ParentMissing Cause = "ParentMissing"
	// IllegalParent says that the namespace's parent is excluded from hierarchies.
	IllegalParent Cause = "IllegalParent"
)

// Cycle returns the cycle that name is a member of, rotated so that the smallest name is first; nil if there is none.
func (f *Forest) Cycle(name string) []string {
	chain := f.Chain(name)
	if f.Parent(chain[len(chain)-1]) != name {
		return nil
	}
	first := slices.Index(chain, slices.Min(chain))
	return slices.Concat(chain[first:], chain[:first])
}

// Cause returns why activities are halted at name itself.
func (f *Forest) Cause(name string) Cause {
	if f.Parent(name) != "" && f.Cycle(name) != nil {
		return InCycle
	}
	return f.beyond(name)
}

// beyond returns what is wrong with the parent of a namespace that is in no cycle.
func (f *Forest) beyond(name string) Cause {
	parent := f.Parent(name)
	switch {
	case parent == "":
		return NotHalted
	case f.excluded(parent):
		return IllegalParent
	case !f.Exists(parent):
		return ParentMissing
	}
	return NotHalted
}

// HaltedAt returns the nearest namespace, from name upward, at which activities are halted, and why; "" if there is
// none. Nothing is propagated to a namespace from beyond the halted one.
func (f *Forest) HaltedAt(name string) (string, Cause) {
	chain, cause := f.Chain(name), f.Cause
	if f.Parent(chain[len(chain)-1]) == "" {
		// It ends at a root, so no cycle has to be looked for. This is asked for each namespace all the time.
		cause = f.beyond
	}
	for _, at := range chain {
		if cause := cause(at); cause != NotHalted {
			return at, cause
		}
	}
	return "", NotHalted
}
