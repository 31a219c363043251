package viewdefinition

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
)

// The limits of patterns, which repetitions multiply. kube-apiserver keeps each pattern that it has compiled.
const (
	maxPattern  = 4 << 10 // bytes, and instructions
	maxPatterns = 16 << 10
)

// maxCopies is how many calls of optMap and optFlatMap a rule may have: each copies what it is called on, with the
// copies in there, when the rule is compiled.
const maxCopies = 2

// errPattern is the error about a pattern with too many instructions.
var errPattern = fmt.Errorf("has a pattern with more than %d bytes or instructions; remove repetitions such as {0,63}, and use maxLength", maxPattern)

// errComputed is the error about a pattern that would be compiled at each evaluation.
var errComputed = errors.New("the pattern of matches, find or findAll must be a text in quotes")

// instructions returns how many instructions a compiled pattern has, and an error if they are too many.
func instructions(pattern string) (int, error) {
	if len(pattern) > maxPattern {
		return 0, errPattern
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	n := count(parsed, 1)
	if n > maxPattern {
		return 0, errPattern
	}
	return n, nil
}

// count returns the instructions of an expression that is repeated. Repeated classes of characters share their ranges.
func count(re *syntax.Regexp, times int) int {
	n := times
	switch re.Op {
	case syntax.OpLiteral:
		n = product(len(re.Rune), times)
	case syntax.OpCharClass:
		n = sum(n, len(re.Rune)/2)
	case syntax.OpRepeat:
		times = product(max(re.Min+1, re.Max), times)
	}
	for _, sub := range re.Sub {
		n = sum(n, count(sub, times))
	}
	return n
}

func product(a, b int) int {
	if a > most/b {
		return most
	}
	return a * b
}

// checkRule returns how many instructions the patterns of a rule have: any text in it may be one. It parses the rule
// without macros, which make it larger.
func checkRule(rule string) (n int, err error) {
	rules, err := parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true))
	if err != nil {
		return 0, err
	}
	parsed, problems := rules.Parse(common.NewTextSource(rule))
	if len(problems.GetErrors()) > 0 {
		return 0, errors.New(problems.ToDisplayString())
	}
	copies := 0
	ast.PostOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if text, ok := textOf(e); ok {
			more, invalid := instructions(text)
			if errors.Is(invalid, errPattern) {
				err = invalid
			}
			n = sum(n, more)
		}
		if e.Kind() != ast.CallKind {
			return
		}
		switch call := e.AsCall(); strings.TrimPrefix(call.FunctionName(), ".") {
		case "optMap", "optFlatMap":
			copies++
		case "matches", "find", "findAll":
			if invalid := checkPattern(call); invalid != nil {
				err = invalid
			}
		}
	}))
	if copies > maxCopies {
		err = fmt.Errorf("has %d calls of optMap and optFlatMap; at most %d are allowed", copies, maxCopies)
	}
	return n, err
}

// checkPattern validates the pattern of a call.
func checkPattern(call ast.CallExpr) error {
	args := call.Args()
	if !call.IsMemberFunction() {
		args = args[min(1, len(args)):]
	}
	if len(args) == 0 {
		return nil // There is no such function.
	}
	text, ok := textOf(args[0])
	if !ok {
		return errComputed
	}
	_, err := instructions(text)
	return err
}

// textOf returns the text that an expression is.
func textOf(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().Value().(string)
	return text, ok
}
