package cli

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// SyncProblems returns why a RepositorySync is not synced, "" if it is. Texts of the repository are escaped.
func SyncProblems(s *v1alpha3.RepositorySync, color bool) string {
	condition := diagnosis.SyncReady(s)
	if condition.Status == metav1.ConditionTrue {
		return ""
	}
	code := func(text string) string { return text }
	if color {
		code = Ansi("31;1")
	}
	text := fmt.Sprintf("%s: %s\n", s.Name, names.Printable(condition.Message))
	for _, err := range s.Status.Errors {
		text += fmt.Sprintf("  %s: %s", code(names.Printable(err.Code)), names.Printable(err.Message))
		if err.Path != "" {
			text += " (" + names.Printable(err.Path) + ")"
		}
		text += "\n"
	}
	for _, f := range s.Status.Failures {
		name := report.ObjectName(schema.GroupKind{Group: f.Group, Kind: f.Kind}, f.Namespace, f.Name)
		text += fmt.Sprintf("  %s: %s\n", names.Printable(name), names.Printable(f.Message))
	}
	if more := int(s.Status.Failed) - len(s.Status.Failures); more > 0 {
		text += fmt.Sprintf("  and %d more objects\n", more)
	}
	return text
}
