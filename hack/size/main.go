// Command size reports source files and types that are too large to read in one go: files of more than 250 lines and types with more
// than 25 methods. Generated files are exempt. Usage, from the root of the repository: go run ./hack/size [PATH...]
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/hack/tracked"
)

const (
	maxLines   = 250
	maxMethods = 25
)

func main() {
	files, err := tracked.Files(os.Args[1:], func(name string) bool { return path.Ext(name) == ".go" })
	var problems []string
	if err == nil {
		problems, err = check(files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	for _, line := range problems {
		fmt.Println(line)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// check returns a line for each file and type that is too large. Methods in test files count: a test type is read like any other.
func check(files []string) ([]string, error) {
	var problems []string
	methods := map[receiver]int{}
	for _, name := range files {
		text, err := os.ReadFile(name) //nolint:gosec // a file of this repository
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but still in the index
		}
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(file) {
			continue
		}
		if lines := bytes.Count(text, []byte("\n")); lines > maxLines {
			problems = append(problems, fmt.Sprintf("%s: %d lines, at most %d are allowed; split it by idea", name, lines, maxLines))
		}
		count(file, path.Dir(name), methods)
	}
	for _, r := range slices.SortedFunc(maps.Keys(methods), receiver.compare) {
		if n := methods[r]; n > maxMethods {
			problems = append(problems, fmt.Sprintf("%s: type %s has %d methods, at most %d are allowed; split its responsibilities", r.dir, r.name, n, maxMethods))
		}
	}
	return problems, nil
}

// receiver is a type of a package: the external tests of a folder are a package of their own.
type receiver struct{ dir, pkg, name string }

func (r receiver) compare(other receiver) int {
	return cmp.Or(cmp.Compare(r.dir, other.dir), cmp.Compare(r.pkg, other.pkg), cmp.Compare(r.name, other.name))
}

// count adds the methods of a file to those of their types.
func count(file *ast.File, dir string, methods map[receiver]int) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv == nil || len(f.Recv.List) != 1 {
			continue
		}
		if name := typeName(f.Recv.List[0].Type); name != "" {
			methods[receiver{dir, file.Name.Name, name}]++
		}
	}
}

// typeName returns the name of a receiver's type, without its pointer and type parameters.
func typeName(expr ast.Expr) string {
	switch t := expr.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.ParenExpr:
		return typeName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
