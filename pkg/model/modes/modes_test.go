package modes

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// A policy applies to the sources of its namespace and below, until another one there applies.
func TestWhichChainsHaveSourcesWithCopies(t *testing.T) {
	policies := func(mode v1beta1.SynchronizationMode, own map[string]v1beta1.SynchronizationMode) Policies {
		p := Policies{Cluster: Policy{Mode: mode}, Trees: map[string]Policy{}}
		for namespace, mode := range own {
			p.Trees[namespace] = Policy{Mode: mode}
		}
		return p
	}
	type trees = map[string]v1beta1.SynchronizationMode
	for name, test := range map[string]struct {
		policies        Policies
		root, mid, leaf bool
	}{
		"nowhere":                {policies(v1beta1.Ignore, trees{"other": v1beta1.Propagate}), false, false, false},
		"everywhere":             {policies(v1beta1.AllowPropagate, nil), true, true, true},
		"from the middle":        {policies(v1beta1.Remove, trees{"mid": v1beta1.Propagate}), false, true, true},
		"from the root only":     {policies(v1beta1.Ignore, trees{"root": v1beta1.Propagate, "mid": v1beta1.Ignore}), true, true, true},
		"not below the root":     {policies(v1beta1.Propagate, trees{"root": v1beta1.Ignore}), false, false, false},
		"again from the leaf on": {policies(v1beta1.Propagate, trees{"root": v1beta1.Ignore, "leaf": v1beta1.AllowPropagate}), false, false, true},
	} {
		for _, row := range []struct {
			chain []string
			want  bool
		}{{[]string{"root"}, test.root}, {[]string{"mid", "root"}, test.mid}, {[]string{"leaf", "mid", "root"}, test.leaf}} {
			if got := test.policies.CopiesFrom(row.chain); got != row.want {
				t.Errorf("%s, %s: %t", name, row.chain[0], got)
			}
			each := false
			for i := range row.chain {
				each = each || test.policies.Of(row.chain[i:]).Copies()
			}
			if each != row.want {
				t.Errorf("%s, %s: one by one %t", name, row.chain[0], each)
			}
		}
	}
}
