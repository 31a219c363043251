package names_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

func TestPrintableEscapesWhatReadersDoNotSee(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"team-a":                       "team-a",
		"Größe 名前 ● \\n":               "Größe 名前 ● \\n",
		"a\nb\tc\rd":                   `a\nb\tc\rd`,
		"\x1b]0;title\a\x1b[2J":        `\x1b]0;title\a\x1b[2J`,
		"admin\u202enimda":             `admin\u202enimda`,
		"a\u2066b\u2069\u200b\u200e":   `a\u2066b\u2069\u200b\u200e`,
		"line\u2028paragraph\u2029":    `line\u2028paragraph\u2029`,
		"c1\u009b31m, byte\x9b31m":     `c1\u009b31m, byte\x9b31m`,
		"\ufeffmark\u00adhyphen":       `\ufeffmark\u00adhyphen`,
		"filler\u3164, selector\ufe0f": `filler\u3164, selector\ufe0f`,
		"tag\U000e0041":                `tag\U000e0041`,
		"space\u00a0":                  `space\u00a0`,
		"\ufffd":                       "\ufffd",
	} {
		if got := names.Printable(text); got != want {
			t.Errorf("Printable(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestPrintableLinesIndentsLinesOfMessages(t *testing.T) {
	t.Parallel()
	if got, want := names.PrintableLines("conflicts:\n- a\u202e\tb\n  c", "  "), "conflicts:\n  - a\\u202e\\tb\n  c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := names.Line("%s is %d", "a\nb", 1), "a\\nb is 1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := names.Row("a\tb", "c\nd"), "a\\tb\tc\\nd\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"team-a", "a\nb", "\u202e\u200f", "\x9b31m", "\xf0\x9f", "\U000e0041\ufe0f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := names.Printable(text)
		if !utf8.ValidString(got) {
			t.Errorf("Printable(%q) = %q is not valid UTF-8", text, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool {
			return !unicode.IsPrint(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
		}) {
			t.Errorf("Printable(%q) = %q contains characters that are not visible", text, got)
		}
		if again := names.Printable(got); again != got {
			t.Errorf("Printable(%q) = %q, and escaped again %q", text, got, again)
		}
		lines := names.PrintableLines(text, "> ")
		for i, line := range strings.Split(lines, "\n") {
			if line != names.Printable(line) || i > 0 && !strings.HasPrefix(line, "> ") {
				t.Errorf("PrintableLines(%q) = %q: line %d is not printable and indented", text, lines, i)
			}
		}
	})
}

func TestRowsAreShort(t *testing.T) {
	t.Parallel()
	if row := names.Row(strings.Repeat("x", 700_000), "b"); len(row) != names.MaxLength+len("\tb\n") {
		t.Errorf("a row with a long name has %d bytes", len(row))
	}
	// Messages have spaces.
	if message := strings.Repeat("word ", 200); names.Row(message) != message+"\n" {
		t.Error("a message is cut off")
	}
}
