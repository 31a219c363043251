package tree

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Paint colors parts of the text. A nil function leaves its part as it is.
type Paint struct{ Sub, Note, Dim, Bold func(string) string }

func with(paint func(string) string, s string) string {
	if paint == nil || s == "" {
		return s
	}
	return paint(s)
}

// Write writes the trees below the roots in the format of docs/spec/hnc.md 4.2, byte for byte unless there are objects
// or paint.
func (t *Tree) Write(w io.Writer, roots []string, paint Paint) error {
	out := bufio.NewWriter(w)
	notes := footnotes{number: map[string]int{}}
	subs, abstract := false, false
	var b branches
	for _, top := range t.tops(roots) {
		top.walk(t, func(v Visit) bool {
			line := with(paint.Dim, b.before(v))
			if v.Abstract {
				line += with(paint.Sub, "[a]") + " "
				abstract = true
			}
			if v.Depth > 0 && v.Subnamespace {
				line += with(paint.Sub, "[s]") + " "
				subs = true
			}
			if v.Depth == 0 {
				line += with(paint.Bold, names.Printable(v.Name))
			} else {
				line += names.Printable(v.Name)
			}
			if v.Deleting {
				line += " " + with(paint.Dim, "(deleting)")
			}
			if marks := notes.numbers(v.Node); marks != "" {
				line += " " + with(paint.Note, "("+marks+")")
			}
			if !v.Again {
				line += with(paint.Dim, names.Printable(formatObjects(v.Objects)))
			}
			_, err := fmt.Fprintln(out, line)
			return err == nil
		})
	}
	if subs {
		_, _ = fmt.Fprintf(out, "\n%s indicates subnamespaces\n", with(paint.Sub, "[s]"))
	}
	if abstract {
		if !subs {
			_, _ = fmt.Fprintln(out)
		}
		_, _ = fmt.Fprintf(out, "%s indicates abstract namespaces, which are not namespaces of the cluster\n", with(paint.Sub, "[a]"))
	}
	if len(notes.texts) > 0 {
		_, _ = fmt.Fprint(out, "\nConditions:\n")
		for i, text := range notes.texts {
			_, _ = fmt.Fprintf(out, "%s %s\n", with(paint.Note, strconv.Itoa(i+1)+")"), text)
		}
	}
	return out.Flush()
}

// branches holds what each level puts before the lines of the levels below it.
type branches []string

// before returns the lines that connect a namespace of a walk with its parent and siblings.
func (b *branches) before(v Visit) string {
	*b = (*b)[:max(v.Depth-1, 0)]
	if v.Depth == 0 {
		return ""
	}
	branch, indent := "├── ", "│   "
	if v.Last {
		branch, indent = "└── ", "    "
	}
	line := strings.Join(*b, "") + branch
	*b = append(*b, indent)
	return line
}

// footnotes numbers the conditions; equal ones share a number.
type footnotes struct {
	number map[string]int
	texts  []string
}

// numbers returns the numbers of a namespace's conditions, separated by commas.
func (f *footnotes) numbers(n *Node) string {
	var numbers []string
	for _, c := range n.Conditions {
		text := names.Printable(FormatCondition(c))
		if f.number[text] == 0 {
			f.texts = append(f.texts, text)
			f.number[text] = len(f.texts)
		}
		numbers = append(numbers, strconv.Itoa(f.number[text]))
	}
	return strings.Join(numbers, ",")
}

// formatObjects lists sources by name, and copies with the namespace of their source.
func formatObjects(objects []Object) string {
	if len(objects) == 0 {
		return ""
	}
	all := make([]string, 0, len(objects))
	for _, o := range objects {
		name := names.Shorten(o.Name)
		if o.InheritedFrom != "" {
			name += " (from " + o.InheritedFrom + ")"
		}
		all = append(all, name)
	}
	return "  " + strings.Join(all, ", ")
}
