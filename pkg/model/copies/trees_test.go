package copies

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// Root and mid have a source x, and leaf is below them; what is said is "namespace mode [Keep]". The names carry the
// rows of docs/spec/hnc.md 3.11.
func TestPoliciesOfTrees(t *testing.T) {
	for name, test := range map[string]struct {
		cluster string
		trees   []string
		present *Object
		want    string
	}{
		"M-Propagate above":                                 {"Propagate", []string{"mid Ignore"}, nil, "create<root"},
		"M-Ignore above":                                    {"Propagate", []string{"root Ignore"}, nil, "-"},
		"M-Ignore above, Propagate below":                   {"Ignore", []string{"mid Propagate"}, nil, "create<mid"},
		"M-Ignore leaves a copy":                            {"Propagate", []string{"root Ignore"}, role(t, "leaf", "x", "get", from+"root"), "-"},
		"M-Ignore leaves a copy unless another replaces it": {"Ignore", []string{"mid Propagate"}, role(t, "leaf", "x", "get", from+"root"), "update<mid"},
		"M-Remove removes a copy":                           {"Propagate", []string{"root Remove"}, role(t, "leaf", "x", "get", from+"root"), "delete"},
		"M-Remove leaves what others have":                  {"Ignore", []string{"mid Remove"}, role(t, "leaf", "x", "get", from+"root"), "-"},
		"M-Remove leaves a local object":                    {"Remove", nil, role(t, "leaf", "x", "get"), "-"},
		"M-AllowPropagate":                                  {"Propagate", []string{"root AllowPropagate"}, nil, "-"},
		"Keep":                                              {"Propagate", []string{"root Propagate Keep"}, role(t, "leaf", "x", "get"), "keep<root"},
		"Keep is the source's":                              {"Propagate", []string{"leaf Propagate Keep"}, role(t, "leaf", "x", "get"), "overwrite<root"},
		"Keep is not inherited from the cluster":            {"Propagate Keep", []string{"root Propagate"}, role(t, "leaf", "x", "get"), "overwrite<root"},
		"of an orphaned copy, by where it is from":          {"Remove", []string{"gone Ignore"}, role(t, "leaf", "y", "get", from+"gone"), "-"},
	} {
		t.Run(name, func(t *testing.T) {
			policy := func(text string) modes.Policy {
				mode, keep, _ := strings.Cut(text, " ")
				return modes.New(v1beta1.ResourceSpec{Mode: v1beta1.SynchronizationMode(mode), OnConflict: v1beta1.ConflictPolicy(keep)}, "")
			}
			policies := modes.Policies{Cluster: policy(test.cluster), Trees: map[string]modes.Policy{}}
			for _, line := range test.trees {
				namespace, text, _ := strings.Cut(line, " ")
				policies.Trees[namespace] = policy(text)
			}
			chains := map[string][]string{"root": {"root"}, "mid": {"mid", "root"}, "leaf": {"leaf", "mid", "root"}}
			index := NewIndex(Roles)
			index.PolicyOf = func(namespace string) modes.Policy {
				if chain := chains[namespace]; chain != nil {
					return policies.Of(chain)
				}
				return policies.Of([]string{namespace})
			}
			index.Set(role(t, "root", "x", "get"))
			index.Set(role(t, "mid", "x", "list"))
			name := "x"
			if test.present != nil {
				index.Set(test.present)
				name = test.present.Name
			}
			d := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}}
			if got := decided(index.Decide(d, name)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
