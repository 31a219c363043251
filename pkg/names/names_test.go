package names

import (
	"maps"
	"slices"
	"strconv"
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
	if got := ShortenText(strings.Repeat("a ", 190000)); len(got) > MaxText {
		t.Errorf("the message has %d bytes", len(got))
	}
}

func TestKeysOfLongNamesAreDifferent(t *testing.T) {
	long := strings.Repeat("a", 300)
	keys := map[string]string{}
	for _, name := range []string{"a", long[:MaxLength], long, long + "a", Shorten(long), strings.Repeat("ä", 300), long[:1] + strings.Repeat("ä", 300)} {
		key := Key(name)
		if other, known := keys[key]; known {
			t.Errorf("%q and %q have the key %q", name, other, key)
		}
		if keys[key] = name; Shorten(key) != Shorten(name) || len(key) > MaxLength+64 {
			t.Errorf("the key of %q is %q", name, key)
		}
		if again := Key(key); again == key && len(name) > MaxLength {
			t.Errorf("the name %q is its own key, and that of %q", key, name)
		}
	}
}

func TestTheFirstNamesAreFoundWithoutSortingAll(t *testing.T) {
	all := map[string]bool{}
	for i := range 10000 {
		all[strconv.Itoa(i)] = true
	}
	var first []string
	allocated := testing.AllocsPerRun(5, func() { first = First(maps.Keys(all), 3) })
	if !slices.Equal(first, []string{"0", "1", "10"}) || allocated > 10 {
		t.Errorf("got %q with %f allocations", first, allocated)
	}
	if got := First(slices.Values([]string{"b", "a"}), 3); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
}

// FuzzNames checks that whatever a name contains, it stays within its bounds in messages.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"", "ops", "\x1b[2J", "a\nb", "\u202e", "\xff\xfe", strings.Repeat("?", 400), strings.Repeat("ä ", 2000)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		short, text := Shorten(name), ShortenText(name)
		if len(short) > MaxLength || len(text) > MaxText || Addressable(name) && short != name {
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
