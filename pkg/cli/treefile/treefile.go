// Package treefile reads trees of namespaces that are written as indented names:
//
//	acme-org
//	  team-a
//	    service-1
//	  team-b
//
// Each namespace gets the one above it, with less indentation, as its parent. The namespaces without indentation keep their own parents. A colon after a
// name is ignored, so that nested YAML mappings without values are trees, too. Empty lines and comments, which start with #, are ignored.
package treefile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

const kind = "TreePlacement"

// object matches text that is an object and not a tree.
var object = regexp.MustCompile(`(?m)\A\s*\{|^apiVersion:`)

// Parse returns the tree placement that a file contains: as an object in YAML or JSON, or as indented names. Errors name the line of an indented name.
func Parse(text []byte) (*v1beta1.TreePlacement, error) {
	p := &v1beta1.TreePlacement{}
	if object.Match(text) {
		if err := yaml.UnmarshalStrict(text, p); err != nil {
			return nil, fmt.Errorf("not a valid %s: %w", kind, err)
		}
		if p.APIVersion != v1beta1.SchemeGroupVersion.String() || p.Kind != kind {
			return nil, fmt.Errorf("the object is a %q of %q; use a %s of %s, or indented names", p.Kind, p.APIVersion, kind, v1beta1.SchemeGroupVersion)
		}
		return p, nil
	}
	p.APIVersion, p.Kind = v1beta1.SchemeGroupVersion.String(), kind
	var err error
	p.Spec.Placements, err = parseNames(string(text))
	return p, err
}

// level is an indentation and the namespace that was last at it.
type level struct {
	indent int
	name   string
}

func parseNames(text string) ([]v1beta1.Placement, error) {
	var placements []v1beta1.Placement
	var open []level
	lines := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
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
			placements = append(placements, v1beta1.Placement{Namespace: name, Parent: open[len(open)-1].name})
		}
		open = append(open, level{indent, name})
	}
	if len(placements) == 0 {
		return nil, errors.New("no namespace has a parent; indent each namespace below its parent")
	}
	return placements, nil
}
