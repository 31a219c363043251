package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const apiPackage = "pkg/apis/hnc"

// constant is a string constant of the API with its comment.
type constant struct{ name, value, doc string }

// names writes the page of labels, annotations, finalizers, conditions, reasons and events: the constants of the API's
// package.
func names() (string, error) {
	all, err := constants()
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString("# Labels, annotations, conditions and events\n\nEvery name by which objects of the cluster tell something, as the code defines it. " +
		"Those of HNC have the same meaning as with HNC.\n")
	for _, section := range []struct{ title, prefix, column string }{
		{"Labels", "Label", "Label"},
		{"Annotations", "Annotation", "Annotation"},
		{"Finalizers", "Finalizer", "Finalizer"},
		{"Conditions", "Condition", "Type"},
		{"Reasons", "Reason", "Reason"},
		{"Events", "Event", "Reason"},
	} {
		fmt.Fprintf(&page, "\n## %s\n\n| %s | Meaning |\n| --- | --- |\n", section.title, section.column)
		seen := map[string]bool{}
		for _, c := range all {
			if strings.HasPrefix(c.name, section.prefix) && c.name != section.prefix+"Suffix" && !seen[c.value] {
				if c.doc == "" {
					return "", fmt.Errorf("%s has no comment", c.name)
				}
				seen[c.value] = true
				fmt.Fprintf(&page, "| %s | %s |\n", code(c.value), cell(c.doc))
			}
		}
	}
	return page.String(), nil
}

// constants returns the exported string constants of the API's package, in the order of their values.
func constants() ([]constant, error) {
	parsed, err := parser.ParseDir(token.NewFileSet(), apiPackage, nil, parser.ParseComments) //nolint:staticcheck // types are not needed
	if err != nil {
		return nil, err
	}
	values := map[string]string{"GroupName": "hnc.x-k8s.io"}
	var all []constant
	files := parsed["hnc"].Files
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, declaration := range files[name].Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				for i, name := range value.Names {
					if i >= len(value.Values) {
						continue
					}
					literal, ok := value.Values[i].(*ast.BasicLit)
					if !ok || literal.Kind != token.STRING || !name.IsExported() {
						continue
					}
					text, err := strconv.Unquote(literal.Value)
					if err != nil {
						return nil, err
					}
					values[name.Name] = text
					doc := value.Doc.Text()
					if doc == "" && len(group.Specs) == 1 {
						doc = group.Doc.Text()
					}
					all = append(all, constant{name.Name, text, doc})
				}
			}
		}
	}
	// Files come in any order, and several constants may have one value.
	slices.SortFunc(all, func(a, b constant) int {
		return cmp.Or(strings.Compare(a.value, b.value), strings.Compare(a.name, b.name))
	})
	for i := range all {
		all[i].doc = sentence(all[i], values)
	}
	return all, nil
}

// source is the sentence of a comment that names where a rule comes from.
var source = regexp.MustCompile(`\s*Source(\s+of\s+the\s+\w+)?:[^.]*?docs/spec/[\w-]+\.md[^.]*(\.\d[^.]*)*\.`)

var identifier = regexp.MustCompile(`\b[A-Z]\w+\b`)

// sentence returns the comment of a constant for readers who do not see the code: without its own name, and with the
// values of others.
func sentence(c constant, values map[string]string) string {
	doc := identifier.ReplaceAllStringFunc(c.doc, func(word string) string {
		// Words such as Remove are names of constants, too.
		if value, ok := values[word]; ok && word != c.name && word != value {
			return "`" + value + "`"
		}
		return word
	})
	doc = strings.TrimPrefix(strings.TrimSpace(source.ReplaceAllString(doc, "")), c.name)
	doc = strings.TrimSpace(strings.TrimPrefix(doc, ","))
	for _, verb := range []string{"means that ", "is projected: ", "is the reason of ", "is "} {
		if rest, ok := strings.CutPrefix(doc, verb); ok {
			doc = strings.NewReplacer(", or that ", ", or ", ", and that ", ", and ").Replace(rest)
			break
		}
	}
	if doc == "" {
		return ""
	}
	return strings.ToUpper(doc[:1]) + doc[1:]
}
