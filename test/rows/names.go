package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// testName is a name of a test, and where it is.
type testName struct {
	text  string
	where string
	// function is whether it is that of a function.
	function bool
}

// specs are the functions of Ginkgo that take a text first.
var specs = []string{"It", "Specify", "Describe", "Context", "When", "DescribeTable", "DescribeTableSubtree", "Entry"}

// testNames returns the names of the tests in the files below a folder whose names end in _test.go: of functions, of
// subtests, of the rows of tables and of Ginkgo's specs. Comments are no names.
func testNames(root string) ([]testName, error) {
	var names []testName
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "_"), entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			for _, text := range namesIn(node) {
				_, function := node.(*ast.FuncDecl)
				names = append(names, testName{text, relative + ":" + strconv.Itoa(files.Position(node.Pos()).Line), function})
			}
			return true
		})
		return nil
	})
	return names, err
}

// namesIn returns the names of tests that a node itself gives.
func namesIn(node ast.Node) []string {
	switch n := node.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil && (strings.HasPrefix(n.Name.Name, "Test") || strings.HasPrefix(n.Name.Name, "Fuzz")) {
			return []string{n.Name.Name}
		}
	case *ast.CallExpr:
		if len(n.Args) > 0 && namesItsFirst(n.Fun) {
			return literals(n.Args[0])
		}
	case *ast.CompositeLit:
		_, isMap := n.Type.(*ast.MapType)
		positional := firstIsName(n.Type)
		var found []string
		for _, element := range n.Elts {
			if test, ok := element.(*ast.CompositeLit); ok && positional && len(test.Elts) > 0 {
				found = append(found, literals(test.Elts[0])...)
			}
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "name" {
				found = append(found, literals(pair.Value)...)
			} else if isMap {
				found = append(found, literals(pair.Key)...)
			}
		}
		return found
	}
	return nil
}

// firstIsName says whether a type is a list of structs that is written there, whose first field is called name.
func firstIsName(t ast.Expr) bool {
	list, ok := t.(*ast.ArrayType)
	if !ok {
		return false
	}
	element, ok := list.Elt.(*ast.StructType)
	return ok && len(element.Fields.List) > 0 && len(element.Fields.List[0].Names) > 0 && element.Fields.List[0].Names[0].Name == "name"
}

// namesItsFirst says whether a function takes the name of a test as its first argument.
func namesItsFirst(function ast.Expr) bool {
	switch f := function.(type) {
	case *ast.Ident:
		return slices.Contains(specs, f.Name)
	case *ast.SelectorExpr:
		return f.Sel.Name == "Run" || slices.Contains(specs, f.Sel.Name)
	}
	return false
}

// literals returns the strings that an expression consists of.
func literals(expression ast.Expr) []string {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return []string{text}
		}
	case *ast.BinaryExpr:
		return append(literals(e.X), literals(e.Y)...)
	case *ast.CallExpr:
		var found []string
		for _, argument := range e.Args {
			found = append(found, literals(argument)...)
		}
		return found
	}
	return nil
}
