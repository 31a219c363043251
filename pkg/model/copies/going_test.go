package copies

import "testing"

// The chain is root ← mid ← leaf. What goes is being deleted.
func TestWhatIsWrittenWhileNamespacesAreBeingDeleted(t *testing.T) {
	const root, mid, other, leaf = "root", "mid", "other", "leaf"
	sourceIn := func(namespace, verb string) *Object { return role(t, namespace, "x", verb) }
	copyFrom := func(namespace string) *Object { return role(t, leaf, "x", "get", from+namespace) }
	right := copyFrom(root)
	right.Digest = sourceIn(root, "get").Digest
	held := func(o *Object) *Object { o.Terminating = true; return o }
	for name, test := range map[string]struct {
		goes    []string
		objects []*Object
		want    string
	}{
		"a grant is revoked above the parent that goes":      {[]string{mid}, []*Object{copyFrom(root)}, "delete"},
		"a grant shrinks above the parent that goes":         {[]string{mid}, []*Object{sourceIn(root, "list"), copyFrom(root)}, "update<root"},
		"a grant stays above the parent that goes":           {[]string{mid}, []*Object{sourceIn(root, "get"), right}, "-"},
		"a policy is added above the parent that goes":       {[]string{mid}, []*Object{sourceIn(root, "get")}, "create<root"},
		"a policy is set over a local object":                {[]string{mid}, []*Object{sourceIn(root, "list"), sourceIn(leaf, "get")}, "overwrite<root"},
		"the source vanishes with its namespace":             {[]string{mid}, []*Object{copyFrom(mid)}, "-"},
		"the source vanishes, and another is above":          {[]string{mid}, []*Object{sourceIn(root, "list"), copyFrom(mid)}, "update<root"},
		"the source vanishes, and another is below":          {[]string{root}, []*Object{sourceIn(mid, "list"), copyFrom(root)}, "-"},
		"a grant shrinks in a namespace that goes":           {[]string{mid}, []*Object{sourceIn(mid, "list"), copyFrom(mid)}, "update<mid"},
		"nothing new comes from a namespace that goes":       {[]string{mid}, []*Object{sourceIn(mid, "get")}, "-"},
		"nothing is overwritten from a namespace that goes":  {[]string{mid}, []*Object{sourceIn(mid, "list"), sourceIn(leaf, "get")}, "-"},
		"a copy of another tree is removed":                  {[]string{mid}, []*Object{sourceIn(other, "get"), copyFrom(other)}, "delete"},
		"a copy of another tree that is gone is removed":     {[]string{mid, other}, []*Object{copyFrom(other)}, "delete"},
		"a copy of another tree that is gone is replaced":    {[]string{mid, other}, []*Object{sourceIn(root, "list"), copyFrom(other)}, "update<root"},
		"a grant is revoked in a namespace that goes itself": {[]string{leaf}, []*Object{copyFrom(root)}, "delete"},
		"a grant shrinks in a namespace that goes itself":    {[]string{leaf}, []*Object{sourceIn(root, "list"), copyFrom(root)}, "update<root"},
		"nothing is created in a namespace that goes itself": {[]string{leaf}, []*Object{sourceIn(root, "get")}, "-"},
		"local objects of a namespace that goes itself stay": {[]string{leaf}, []*Object{sourceIn(root, "list"), sourceIn(leaf, "get")}, "-"},
		"all of them go": {[]string{root, mid, leaf}, []*Object{copyFrom(root)}, "-"},
		"a finalizer keeps a copy that was revoked": {[]string{leaf}, []*Object{held(copyFrom(root))}, "wait"},
		"a finalizer keeps a copy that goes":        {[]string{leaf}, []*Object{sourceIn(root, "list"), held(copyFrom(root))}, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			index := NewIndex(Roles)
			for _, o := range test.objects {
				index.Set(o)
			}
			going := map[string]bool{}
			for _, namespace := range test.goes {
				going[namespace] = true
			}
			d := Destination{Namespace: leaf, Ancestors: []string{root, mid}, Stays: func(namespace string) bool { return !going[namespace] }}
			w := index.Decide(d, "x")
			if got := decided(w); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			removals, writes := index.DecideAll(d)
			if n := len(removals) + len(writes); (n == 0) != (w == nil) || index.Right(d) != (w == nil) {
				t.Errorf("%d writes in all, right: %t", n, index.Right(d))
			}
		})
	}
}
