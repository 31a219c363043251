package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// repositoryErrors writes the page of the codes of repositories: the constants of pkg/repository/report with their
// comments, each of which says what the code means and, after "Fix:", what to do.
func repositoryErrors() (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "pkg/repository/report/code.go", nil, parser.ParseComments)
	if err != nil {
		return "", err
	}
	var numbers, words []string
	ast.Inspect(file, func(node ast.Node) bool {
		value, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := value.Type.(*ast.Ident); !ok || kind.Name != "Code" {
			return false
		}
		name := value.Names[0].Name
		code, unquoteErr := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
		doc, ok := strings.CutPrefix(strings.Join(strings.Fields(value.Doc.Text()), " "), name+": ")
		if unquoteErr != nil || !ok {
			err = fmt.Errorf("%s: its comment must begin with %q, and its value must be a string", name, name+": ")
			return false
		}
		meaning, fix, _ := strings.Cut(doc, " Fix: ")
		row := fmt.Sprintf("| <a id=%q></a>%s | %s | %s |\n", strings.ToLower(code), code, cell(meaning), cell(fix))
		if strings.HasPrefix(code, "KNV") {
			numbers = append(numbers, row)
		} else {
			words = append(words, row)
		}
		return false
	})
	slices.Sort(numbers)
	slices.Sort(words)
	return "# Errors of repositories\n\nWhat each code of `kubectl hns repo` and of a [RepositorySync](../repositories.md) means, and how to fix it. " +
		"Numeric codes mean the same as\nin Config Sync.\n\n| Code | Meaning | Fix |\n| --- | --- | --- |\n" +
		strings.Join(numbers, "") + strings.Join(words, ""), err
}
