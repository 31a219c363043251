package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// ownCodes are the control sequences that commands write: the progress line's, and colors.
var ownCodes = []string{clearLine, "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[36m", "\x1b[31;1m", "\x1b[33;1m"}

// textWriter escapes everything that is not printable, except line breaks, tabs and ownCodes. It is the second line of
// defense: commands escape the names and messages of others where they print them, because only there a line break of a
// name differs from one of the output. Its methods may be called concurrently.
type textWriter struct {
	mu sync.Mutex
	w  io.Writer
	// rest is the beginning of a character or a code, whose end the next Write contains.
	rest []byte
}

func (t *textWriter) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := slices.Concat(t.rest, p)
	end := len(text) - unfinished(text)
	t.rest = slices.Clone(text[end:])
	if _, err := io.WriteString(t.w, escapeText(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what no other Write has completed.
func (t *textWriter) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = io.WriteString(t.w, escapeText(string(t.rest)))
	t.rest = nil
}

// Exact returns the writer for data that programs read, which nothing escapes.
func Exact(w io.Writer) io.Writer {
	if t, ok := w.(*textWriter); ok {
		t.flush()
		return t.w
	}
	return w
}

// escapeText escapes text between ownCodes.
func escapeText(text string) string {
	var b strings.Builder
	for text != "" {
		at, code := len(text), ""
		for _, c := range ownCodes {
			if i := strings.Index(text, c); i >= 0 && i < at {
				at, code = i, c
			}
		}
		b.WriteString(names.PrintableText(text[:at]))
		b.WriteString(code)
		text = text[at+len(code):]
	}
	return b.String()
}

// unfinished returns the number of bytes at the end of text that may be the beginning of a character or of one of
// ownCodes.
func unfinished(text []byte) int {
	for n := min(len(text), len(clearLine)+utf8.UTFMax); n > 0; n-- {
		end := text[len(text)-n:]
		if !utf8.FullRune(end) && utf8.RuneStart(end[0]) {
			return n
		}
		for _, code := range ownCodes {
			if len(code) > n && bytes.HasPrefix([]byte(code), end) {
				return n
			}
		}
	}
	return 0
}
