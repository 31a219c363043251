package treefile

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestParse(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		// want lists namespace<parent, or a part of the error after "error: ".
		want string
	}{
		"a tree":              {"acme\n  a\n    b\n  c\n", "a<acme b<a c<acme"},
		"two trees":           {"acme\n  a\nglobex\n  b\n", "a<acme b<globex"},
		"uneven levels":       {"acme\n    a\n     b\nglobex\n  c\n", "a<acme b<a c<globex"},
		"colons and comments": {"---\n# tree\nacme:\r\n\n  a: # team\n    b:\n", "a<acme b<a"},
		"an object":           {"apiVersion: hnc.x-k8s.io/v1beta1\nkind: TreePlacement\nspec:\n  placements:\n  - {namespace: a, parent: b}\n  - namespace: c\n", "a<b c<"},
		"JSON":                {`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"TreePlacement","spec":{"placements":[{"namespace":"a","parent":"b"}]}}`, "a<b"},
		"another kind":        {"apiVersion: v1\nkind: Pod\n", `error: the object is a "Pod" of "v1"`},
		"an unknown field":    {"apiVersion: hnc.x-k8s.io/v1beta1\nkind: TreePlacement\nspec:\n  placement: []\n", "error: unknown field"},
		"a tab":               {"acme\n\ta\n", "error: line 2: contains a tab"},
		"a name that is not":  {"acme\n  A\n", `error: line 2: "A" is not the name of a namespace`},
		"two names in a line": {"acme\n  a b\n", `error: line 2: "a b" is not the name`},
		"twice":               {"acme\n  a\n  b\n    a\n", `error: line 4: namespace "a" is already in line 2`},
		"between two levels":  {"acme\n    a\n  b\n", `error: line 3: the indentation of "b"`},
		"an indented root":    {"  acme\n    a\n", `error: line 1: the indentation of "acme"`},
		"no parents":          {"acme\nglobex\n", "error: no namespace has a parent"},
		"nothing":             {"", "error: no namespace has a parent"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse([]byte(row.text))
			if part, wanted := strings.CutPrefix(row.want, "error: "); wanted {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want an error with %q", err, part)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(p.Spec.Placements); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func describe(placements []v1beta1.Placement) string {
	var all []string
	for _, p := range placements {
		all = append(all, p.Namespace+"<"+p.Parent)
	}
	return strings.Join(all, " ")
}
