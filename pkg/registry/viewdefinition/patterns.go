package viewdefinition

import (
	"errors"
	"fmt"
	"regexp/syntax"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
)

// The limits of patterns, which repetitions multiply. kube-apiserver keeps each pattern that it has compiled.
const (
	maxPattern  = 4 << 10 // bytes, and instructions
	maxPatterns = 16 << 10
)

// errPattern is the error about a pattern with too many instructions.
var errPattern = fmt.Errorf("has a pattern with more than %d bytes or instructions; remove repetitions such as {0,63}, and use maxLength", maxPattern)

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

// instructionsOfRule returns how many instructions the patterns of a rule have: any text in it may be one.
func instructionsOfRule(rule string) (n int, err error) {
	rules, err := parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true))
	if err != nil {
		return 0, err
	}
	parsed, problems := rules.Parse(common.NewTextSource(rule))
	if len(problems.GetErrors()) > 0 {
		return 0, errors.New(problems.ToDisplayString())
	}
	ast.PostOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.LiteralKind {
			return
		}
		text, ok := e.AsLiteral().Value().(string)
		if !ok {
			return
		}
		more, invalid := instructions(text)
		if errors.Is(invalid, errPattern) {
			err = invalid
		}
		n = sum(n, more)
	}))
	return n, err
}
