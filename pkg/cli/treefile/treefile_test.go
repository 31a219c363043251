package treefile

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
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
		"an object":           {"apiVersion: v1\nkind: Pod\n", `error: line 1: "apiVersion: v1" is not the name of a namespace`},
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
			moves, err := Parse([]byte(row.text))
			if part, wanted := strings.CutPrefix(row.want, "error: "); wanted {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want an error with %q", err, part)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(moves); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func describe(moves []adoption.Move) string {
	var all []string
	for _, p := range moves {
		all = append(all, p.Namespace+"<"+p.Parent)
	}
	return strings.Join(all, " ")
}
