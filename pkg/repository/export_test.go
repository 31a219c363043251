package repository

import (
	"fmt"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Checks returns a name for each check.
func Checks() []string {
	var names []string
	for i := range checks {
		names = append(names, fmt.Sprintf("%s %s", checks[i].stage, checks[i].code))
	}
	return names
}

// WithoutCheck calls a function while a check is disabled.
func WithoutCheck(i int, call func()) {
	stage := checks[i].stage
	checks[i].stage = "never"
	defer func() { checks[i].stage = stage }()
	call()
}

// Codes returns the codes of all checks.
func Codes() []report.Code {
	var codes []report.Code
	for i := range checks {
		codes = append(codes, checks[i].code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
