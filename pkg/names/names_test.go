package names

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLongNamesAreShortened(t *testing.T) {
	long := strings.Repeat("ä", 190000)
	for text, within := range map[string]int{"a": 1, strings.Repeat("a", 253): 253, long: 253} {
		if got := Shorten(text); len(got) > within || !utf8.ValidString(got) {
			t.Errorf("a name of %d bytes is shortened to %d: %q", len(text), len(got), got)
		}
	}
	if got := ShortenText("deleting " + long[:1000] + " failed\nagain"); len(got) > 300 || !strings.HasPrefix(got, "deleting ä") || !strings.HasSuffix(got, "… failed\nagain") {
		t.Errorf("the message is %q", got)
	}
	if got := ShortenText(strings.Repeat("a ", 190000)); len(got) > maxText {
		t.Errorf("the message has %d bytes", len(got))
	}
}

// FuzzNames checks that whatever a name contains, it stays within its bounds in messages.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"", "ops", "\x1b[2J", "a\nb", "\u202e", "\xff\xfe", strings.Repeat("?", 400), strings.Repeat("ä ", 2000)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		short, text := Shorten(name), ShortenText(name)
		if len(short) > MaxLength || len(text) > maxText || Addressable(name) && short != name {
			t.Errorf("%q is shortened to %q and %q", name, short, text)
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' }) {
			if len(word) > MaxLength {
				t.Errorf("a word has %d bytes", len(word))
			}
		}
		if utf8.ValidString(name) && !utf8.ValidString(short+text) {
			t.Errorf("%q is cut within a character", name)
		}
	})
}
