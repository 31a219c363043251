// Package diagnosis decides what `kubectl hns doctor` reports: each function looks at objects of the cluster, and
// returns what is right or not with them. It has no clients.
package diagnosis

import (
	"fmt"
	"strings"
)

// Severity orders findings.
type Severity int

// Unknown means that the user may not read what the check needs.
const (
	OK Severity = iota
	Unknown
	Warning
	Error
)

// String returns the severity as it is printed.
func (s Severity) String() string {
	return [...]string{"ok", "unknown", "warning", "error"}[s]
}

// Finding is the result of a check.
type Finding struct {
	Severity Severity
	// Subject is what was looked at, such as "apiservice v1beta1.hnc.x-k8s.io".
	Subject string
	// Text says what is right or not.
	Text string
	// Hint says what to do, "" if nothing has to be done.
	Hint string
}

func ok(subject, format string, args ...any) Finding {
	return Finding{Severity: OK, Subject: subject, Text: fmt.Sprintf(format, args...)}
}

// maxListed is how many objects are named.
const maxListed = 5

// some warns of those of total objects that are not as they should be: reasons has the name and the reason of each.
// good and bad say how the objects are.
func some(subject string, reasons []string, total int, good, bad, hint string) Finding {
	if len(reasons) == 0 {
		return ok(subject, "%d, and all %s", total, good)
	}
	listed := strings.Join(reasons[:min(len(reasons), maxListed)], "; ")
	return Finding{Warning, subject, fmt.Sprintf("%d of %d %s: %s", len(reasons), total, bad, listed), hint}
}

// Worst returns the highest severity.
func Worst(findings []Finding) Severity {
	worst := OK
	for _, f := range findings {
		worst = max(worst, f.Severity)
	}
	return worst
}
