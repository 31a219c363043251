package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

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

// allowsColor reports whether colors may be written to w: to terminals, unless NO_COLOR is set or TERM is dumb.
func allowsColor(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// paintFor returns how text is colored on w.
func paintFor(w io.Writer) tree.Paint {
	if !allowsColor(w) {
		return tree.Paint{}
	}
	return tree.Paint{Sub: ansi("36"), Note: ansi("33"), Dim: ansi("2"), Bold: ansi("1")}
}

func ansi(code string) func(string) string {
	return func(s string) string { return "\x1b[" + code + "m" + s + "\x1b[0m" }
}

// warnf prints a warning on standard error.
func warnf(errOut io.Writer, format string, args ...any) {
	_, _ = io.WriteString(errOut, "Warning: "+names.PrintableLines(fmt.Sprintf(format, args...), indent)+"\n")
}

// confirmed asks a question, and reports whether the answer is yes.
func confirmed(in io.Reader, out io.Writer, question string) bool {
	_, _ = fmt.Fprint(out, question)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	return strings.TrimSpace(answer) == "yes"
}

// clearLine moves to the beginning of the line, and removes it.
const clearLine = "\r\x1b[K"

// progress is a line on a terminal that is rewritten. Elsewhere it is not shown.
type progress struct {
	w     io.Writer
	shown bool

	// log is set if there is no terminal, and logged is when countf has last written to it.
	log    io.Writer
	logged time.Time
}

func newProgress(errOut io.Writer) *progress {
	if isTerminal(errOut) {
		return &progress{w: errOut}
	}
	return &progress{log: errOut, logged: time.Now()}
}

// logInterval is how often countf writes without a terminal, so that the log of a long command shows that it continues.
const logInterval = 10 * time.Second

// countf replaces the line with a count. Without a terminal it writes a line now and then.
func (p *progress) countf(done, total int, what string) {
	p.showf("%d/%d %s ...", done, total, what)
	if p.log != nil && time.Since(p.logged) >= logInterval {
		_, _ = fmt.Fprintf(p.log, "%d/%d %s ...\n", done, total, what)
		p.logged = time.Now()
	}
}

// showf replaces the line.
func (p *progress) showf(format string, args ...any) {
	if p.w != nil {
		_, _ = io.WriteString(p.w, clearLine+names.Printable(fmt.Sprintf(format, args...)))
		p.shown = true
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.shown {
		_, _ = io.WriteString(p.w, clearLine)
		p.shown = false
	}
}
