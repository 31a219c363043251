package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

func isTerminal(w io.Writer) bool {
	if t, ok := w.(*textWriter); ok {
		w = t.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// AllowsColor reports whether colors may be written to w: to terminals, unless NO_COLOR is set or TERM is dumb.
func AllowsColor(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// paintFor returns how text is colored on w.
func paintFor(w io.Writer) tree.Paint {
	if !AllowsColor(w) {
		return tree.Paint{}
	}
	return tree.Paint{Sub: Ansi("36"), Note: Ansi("33"), Dim: Ansi("2"), Bold: Ansi("1")}
}

// Ansi returns a function that surrounds a text with a code of a terminal and its end.
func Ansi(code string) func(string) string {
	return func(s string) string { return "\x1b[" + code + "m" + s + "\x1b[0m" }
}

// Warnf prints a warning on standard error.
func Warnf(errOut io.Writer, format string, args ...any) {
	_, _ = io.WriteString(errOut, "Warning: "+names.PrintableLines(fmt.Sprintf(format, args...), indent)+"\n")
}

// Confirm asks a question on standard error. It returns nil if the answer is yes, the given error for any other answer,
// and the context's error if that ends first.
func Confirm(ctx context.Context, streams genericiooptions.IOStreams, question string, refused error) error {
	_, _ = fmt.Fprint(streams.ErrOut, question)
	answer := make(chan string, 1)
	go func() { answer <- readLine(streams.In) }()
	select {
	case line := <-answer:
		if strings.TrimSpace(line) != "yes" {
			return refused
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readLine returns what comes before the end of the line, or of the input. It leaves the rest for the next question.
func readLine(in io.Reader) string {
	var line []byte
	for char := make([]byte, 1); ; {
		n, err := in.Read(char)
		if n == 1 {
			if char[0] == '\n' {
				return string(line)
			}
			line = append(line, char[0])
		}
		if err != nil {
			return string(line)
		}
	}
}

// clearLine moves to the beginning of the line, and removes it.
const clearLine = "\r\x1b[K"

// Progress is a line on a terminal that is rewritten. Elsewhere it is not shown.
type Progress struct {
	w     io.Writer
	shown bool

	// log is set if there is no terminal, and logged is when countf has last written to it.
	log    io.Writer
	logged time.Time
}

// NewProgress returns the progress of a command, which is shown on errOut.
func NewProgress(errOut io.Writer) *Progress {
	if isTerminal(errOut) {
		return &Progress{w: errOut}
	}
	return &Progress{log: errOut, logged: time.Now()}
}

// logInterval is how often countf writes without a terminal, so that the log of a long command shows that it continues.
const logInterval = 10 * time.Second

// countf replaces the line with a count. Without a terminal it writes a line now and then.
func (p *Progress) countf(done, total int, what string) {
	p.Showf("%d/%d %s ...", done, total, what)
	if p.log != nil && time.Since(p.logged) >= logInterval {
		_, _ = fmt.Fprintf(p.log, "%d/%d %s ...\n", done, total, what)
		p.logged = time.Now()
	}
}

// Showf replaces the line.
func (p *Progress) Showf(format string, args ...any) {
	if p.w != nil {
		_, _ = io.WriteString(p.w, clearLine+names.Printable(fmt.Sprintf(format, args...)))
		p.shown = true
	}
}

// Clear removes the line.
func (p *Progress) Clear() {
	if p.shown {
		_, _ = io.WriteString(p.w, clearLine)
		p.shown = false
	}
}
