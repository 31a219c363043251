// Package treefile reads trees of namespaces that are written as indented names:
//
//	acme-org
//	  team-a
//	    service-1
//	  team-b
//
// Each namespace gets the one above it, with less indentation, as its parent. The namespaces without indentation keep
// their own parents. A colon after a name is ignored, so that nested YAML mappings without values are trees, too. Empty
// lines and comments, which start with #, are ignored.
package treefile

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
)

// level is an indentation and the namespace that was last at it.
type level struct {
	indent int
	name   string
}

// Parse returns the parents that a file of indented names gives to namespaces, parents before their children. Errors
// name the line.
func Parse(text []byte) ([]adoption.Move, error) {
	var moves []adoption.Move
	var open []level
	lines := map[string]int{}
	for i, line := range strings.Split(string(text), "\n") {
		number := i + 1
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimRight(line, " \r")
		name := strings.TrimLeft(line, " ")
		if name == "" || name == "---" {
			continue
		}
		if strings.Contains(line, "\t") {
			return nil, fmt.Errorf("line %d: contains a tab; indent with spaces", number)
		}
		indent := len(line) - len(name)
		name = strings.TrimSuffix(name, ":")
		if len(validation.IsDNS1123Label(name)) > 0 {
			return nil, fmt.Errorf("line %d: %q is not the name of a namespace; write one name in each line, indented below its parent", number, name)
		}
		if before, ok := lines[name]; ok {
			return nil, fmt.Errorf("line %d: namespace %q is already in line %d; a namespace has one parent", number, name, before)
		}
		lines[name] = number
		closed := false
		for len(open) > 0 && open[len(open)-1].indent >= indent {
			closed = open[len(open)-1].indent > indent
			open = open[:len(open)-1]
		}
		// After deeper lines, the indentation must be one that was used before.
		if closed || (indent > 0 && len(open) == 0) {
			return nil, fmt.Errorf("line %d: the indentation of %q is that of no namespace above it; indent siblings alike", number, name)
		}
		if len(open) > 0 {
			moves = append(moves, adoption.Move{Namespace: name, Parent: open[len(open)-1].name})
		}
		open = append(open, level{indent, name})
	}
	if len(moves) == 0 {
		return nil, errors.New("no namespace has a parent; indent each namespace below its parent")
	}
	return moves, nil
}
