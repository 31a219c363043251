package repository_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// codeCase is the smallest repository that has exactly one error, or warning, and its nearest valid neighbor.
type codeCase struct {
	name string
	code report.Code
	bad  files
	// at is where the error must point: file and line of the first source, or the first path.
	at string
	// fix is what makes the repository valid, as a change to bad.
	fix     files
	options repository.Options
	// warning says that the code is a warning.
	warning bool
}

// allCases are the cases of all codes.
var allCases = slices.Concat(readCases, rawCases, kindCases, clusterCases, scopeCases, treeCases, inheritanceCases, finalCases)

func TestEachCode(t *testing.T) {
	var tested []report.Code
	for _, c := range allCases {
		tested = append(tested, c.code)
		t.Run(string(c.code)+" "+c.name, func(t *testing.T) { c.run(t) })
	}
	t.Run("every code has a case", func(t *testing.T) {
		for _, code := range repository.Codes() {
			if !slices.Contains(tested, code) && code != report.MissingName {
				t.Errorf("%s has no case", code)
			}
		}
	})
}

func (c *codeCase) run(t *testing.T) {
	result := compile(t, c.bad, c.options)
	found, none := result.Errors, result.Warnings
	if c.warning {
		found, none = none, found
	}
	if !slices.Equal(codes(found), []string{string(c.code)}) || len(none) > 0 {
		t.Fatalf("want exactly %s, got errors %v\nwarnings %v", c.code, result.Errors, result.Warnings)
	}
	if got := position(found[0]); got != c.at {
		t.Errorf("the error points to %s, want %s:\n%v", got, c.at, found[0])
	}
	if blocked := result.Objects == nil && result.Namespaces == nil; blocked != (c.code.Blocking() && !c.warning) {
		t.Errorf("blocking errors must leave nothing to apply, others all they can: %d objects", len(result.Objects))
	}
	fixed := compile(t, c.bad.with(c.fix), c.options)
	if len(fixed.Errors)+len(fixed.Warnings) > 0 {
		t.Errorf("the neighbor must be valid, got errors %v\nwarnings %v", fixed.Errors, fixed.Warnings)
	}
}

func position(err *report.Error) string {
	if len(err.Sources) > 0 {
		return report.Position(err.Sources[0].Path, err.Sources[0].Line)
	}
	if len(err.Paths) > 0 {
		return err.Paths[0]
	}
	return ""
}

// TestEachCheckIsTested disables one check after the other: a case of its code must fail.
func TestEachCheckIsTested(t *testing.T) {
	finds := func(c *codeCase) bool {
		result := compile(t, c.bad, c.options)
		return slices.Contains(codes(slices.Concat(result.Errors, result.Warnings)), string(c.code))
	}
	for i, name := range repository.Checks() {
		if strings.HasSuffix(name, string(report.MissingName)) || strings.HasSuffix(name, string(report.LimitExceeded)) {
			continue // The loader finds the one first; TestInheritanceIsBounded tests the other.
		}
		repository.WithoutCheck(i, func() {
			if !slices.ContainsFunc(allCases, func(c codeCase) bool { return strings.HasSuffix(name, string(c.code)) && !finds(&c) }) {
				t.Errorf("without the check %q every case still passes", name)
			}
		})
	}
}
