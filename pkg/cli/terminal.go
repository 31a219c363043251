package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
)

// isTerminal says whether somebody sees what is written there at once.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colours says whether colours may be written there: to terminals, unless NO_COLOR or TERM says no.
func (e *Environment) colours(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// paint returns how text is coloured there.
func (e *Environment) paint(w io.Writer) tree.Paint {
	if !e.colours(w) {
		return tree.Paint{}
	}
	return tree.Paint{Sub: ansi("36"), Note: ansi("33"), Dim: ansi("2"), Bold: ansi("1")}
}

func ansi(code string) func(string) string {
	return func(s string) string { return "\x1b[" + code + "m" + s + "\x1b[0m" }
}

// progress is a line on a terminal that is rewritten; elsewhere it is not shown.
type progress struct {
	w     io.Writer
	shown bool
}

func (e *Environment) progress() *progress {
	if isTerminal(e.ErrOut) {
		return &progress{w: e.ErrOut}
	}
	return &progress{}
}

// show replaces the line.
func (p *progress) show(format string, args ...any) {
	if p.w != nil {
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
		p.shown = true
	}
}

// end removes the line.
func (p *progress) end() {
	if p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
