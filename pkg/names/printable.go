package names

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text for one line of output. What a reader does not see, or a terminal acts on, is escaped as in
// Go: control characters, line breaks and tabs (\n), marks that hide text or change its direction (\u202e), and bytes
// that are not UTF-8 (\x9b). Names and messages come from others: they must not control a terminal, look like another
// name or forge another line. Backslashes stay as they are.
func Printable(text string) string { return escape(text, unicode.IsPrint) }

// PrintableLines is Printable for a message that may consist of several lines. Line breaks stay, and all lines but the
// first begin with indent, so that no line of the message looks like the first line of another one.
func PrintableLines(text, indent string) string {
	text = escape(text, func(r rune) bool { return r == '\n' || unicode.IsPrint(r) })
	lines := strings.Split(text, "\n")
	for i := range lines {
		if i > 0 && !strings.HasPrefix(lines[i], indent) {
			lines[i] = indent + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// PrintableText escapes text that has been composed for output, except line breaks and tabs.
func PrintableText(text string) string {
	return escape(text, func(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) })
}

// Line formats one printable line, with the line break at its end.
func Line(format string, args ...any) string { return Printable(fmt.Sprintf(format, args...)) + "\n" }

// Row joins printable cells for a tab writer, with the line break at the end. A table is as wide as its longest cell,
// so long ones are shortened.
func Row(cells ...string) string {
	for i := range cells {
		cells[i] = Printable(ShortenText(cells[i]))
	}
	return strings.Join(cells, "\t") + "\n"
}

// escape escapes the characters for which keep returns false, and those that are printable but invisible.
func escape(text string, keep func(rune) bool) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		invalid := r == utf8.RuneError && size == 1
		if invalid || !keep(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			b.WriteString(text[done:i])
			b.WriteString(escaped(text[i : i+size]))
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// escaped returns the escape sequence of a character, or of a byte that is not part of one.
func escaped(character string) string {
	quoted := fmt.Sprintf("%+q", character)
	return quoted[1 : len(quoted)-1]
}
