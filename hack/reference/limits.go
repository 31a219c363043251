package main

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	goconstant "go/constant"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"
)

//go:embed limits.md.tmpl
var limitsPage string

// limits writes the page of limits: its words are in limits.md.tmpl, its values are constants and the defaults of
// flags.
//
// A function of the template takes constants as PACKAGE.NAME, such as "pkg/model/forest.maxDepth"; several must have the same
// value.
func limits() (string, error) {
	functions := template.FuncMap{
		"flag":             flagDefault,
		"value":            inUnits(1),
		"kib":              inUnits(1 << 10),
		"mib":              inUnits(1 << 20),
		"seconds":          inUnits(int64(time.Second)),
		"minutes":          inUnits(int64(time.Minute)),
		"secondsAsMinutes": inUnits(60),
	}
	page, err := template.New("limits.md.tmpl").Funcs(functions).Parse(limitsPage)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = page.Execute(&text, nil)
	return text.String(), err
}

// inUnits returns a function that returns the value of constants in a unit. A value that is not a multiple of the unit
// is an error.
func inUnits(unit int64) func(first string, others ...string) (string, error) {
	return func(first string, others ...string) (string, error) {
		value, err := constantOf(first)
		if err != nil {
			return "", err
		}
		for _, other := range others {
			same, err := constantOf(other)
			if err != nil {
				return "", err
			}
			if same != value {
				return "", fmt.Errorf("%s and %s differ", first, other)
			}
		}
		if value%unit != 0 {
			return "", fmt.Errorf("%s is no multiple of %d", first, unit)
		}
		return grouped(value / unit), nil
	}
}

// grouped formats a number as the pages do, with commas.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

var durations = regexp.MustCompile(`\btime\.(Second|Minute)\b`)

// constantOf returns the value of PACKAGE.NAME, a constant whose expression has only literals and durations.
func constantOf(constantName string) (int64, error) {
	folder, name := strings.TrimSuffix(constantName, path.Ext(constantName)), strings.TrimPrefix(path.Ext(constantName), ".")
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			return 0, err
		}
		value := expressionOf(parsed, name)
		if value == nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		var source strings.Builder
		if err := format.Node(&source, set, value); err != nil {
			return 0, err
		}
		text := durations.ReplaceAllStringFunc(source.String(), func(unit string) string {
			return map[string]string{"time.Second": "1000000000", "time.Minute": "60000000000"}[unit]
		})
		result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", constantName, err)
		}
		number, _ := goconstant.Int64Val(result.Value)
		return number, nil
	}
	return 0, fmt.Errorf("there is no constant %s: %w", constantName, os.ErrNotExist)
}

// expressionOf returns the expression of a constant of a file, nil if the file does not declare it.
func expressionOf(file *ast.File, name string) ast.Expr {
	for _, decl := range file.Decls {
		consts, ok := decl.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST {
			continue
		}
		for _, spec := range consts.Specs {
			values, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, ident := range values.Names {
				if ident.Name == name && i < len(values.Values) {
					return values.Values[i]
				}
			}
		}
	}
	return nil
}

// flagDefault returns the default of a server's flag, as the pages write it: 4,000, 10 s, 7 days, 256 MiB.
func flagDefault(name string) (string, error) {
	for _, section := range flagSections() {
		flag := section.flags.Lookup(name)
		if flag == nil {
			continue
		}
		if number, err := strconv.ParseInt(flag.DefValue, 10, 64); err == nil {
			return grouped(number), nil
		}
		if duration, err := time.ParseDuration(flag.DefValue); err == nil {
			if days := duration / (24 * time.Hour); days > 0 {
				return fmt.Sprintf("%d days", days), nil
			}
			return fmt.Sprintf("%d s", duration/time.Second), nil
		}
		return "", errors.New("--" + name + " is neither a number nor a duration")
	}
	return "", errors.New("no server has --" + name)
}
