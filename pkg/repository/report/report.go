// Package report defines the errors of a repository, with their codes, messages and positions, and formats them.
package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Source is the position of an object.
type Source struct {
	Path      string `json:"path"`
	Line      int    `json:"line,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind,omitempty"`
}

// Error is one error or warning about a repository.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Sources are the objects concerned.
	Sources []Source `json:"sources,omitempty"`
	// Paths are files and directories, for errors that do not concern objects.
	Paths []string `json:"paths,omitempty"`
}

// Error returns the text form of docs/spec/config-sync.md 6.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", e.Code, names.Printable(e.Message))
	for _, s := range e.Sources {
		b.WriteString("\n" + s.text())
	}
	if len(e.Paths) > 0 {
		b.WriteString("\n")
	}
	for _, path := range e.Paths {
		fmt.Fprintf(&b, "path: %s\n", names.Printable(path))
	}
	fmt.Fprintf(&b, "\nFor more information, see %s\n", e.Code.HelpURL())
	return b.String()
}

func (s *Source) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "source: %s\n", names.Printable(Position(s.Path, s.Line)))
	if s.Namespace != "" {
		fmt.Fprintf(&b, "namespace: %s\n", names.Printable(s.Namespace))
	}
	fmt.Fprintf(&b, "metadata.name: %s\ngroup: %s\nversion: %s\nkind: %s\n", names.Printable(s.Name), names.Printable(s.Group), names.Printable(s.Version), names.Printable(s.Kind))
	return b.String()
}

// Position joins a file and a line, 0 for an unknown one.
func Position(path string, line int) string {
	if line == 0 {
		return path
	}
	return path + ":" + strconv.Itoa(line)
}

// Errors are all errors of a repository, or of one stage.
type Errors []*Error

// Blocking reports whether any of the errors is blocking.
func (e Errors) Blocking() bool {
	return slices.ContainsFunc(e, func(err *Error) bool { return err.Code.Blocking() })
}

// Sorted returns the errors sorted by text, without duplicates.
func (e Errors) Sorted() Errors {
	texts := make(map[*Error]string, len(e))
	for _, err := range e {
		texts[err] = err.Error()
	}
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, func(a, b *Error) int { return strings.Compare(texts[a], texts[b]) })
	return slices.CompactFunc(sorted, func(a, b *Error) bool { return texts[a] == texts[b] })
}

// Error returns all errors, numbered.
func (e Errors) Error() string {
	sorted := e.Sorted()
	var b strings.Builder
	fmt.Fprintf(&b, "%d error(s)\n", len(sorted))
	for i, err := range sorted {
		fmt.Fprintf(&b, "\n\n[%d] %s", i+1, err.Error())
	}
	return b.String()
}

// ObjectName returns how messages name an object: "namespace Kind.group/name", without a namespace or a group if it has
// none.
func ObjectName(kind schema.GroupKind, namespace, name string) string {
	if namespace != "" {
		return namespace + " " + kind.String() + "/" + name
	}
	return kind.String() + "/" + name
}
