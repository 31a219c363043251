// Package names handles names that users choose. Kubernetes limits those of most kinds to 253 characters, but names of
// Roles and RoleBindings may have any length and contain almost any character.
package names

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MaxLength is the length in bytes up to which objects are propagated. Kubernetes has the same limit for the names
	// of most kinds. A longer name may not fit into the URL of a request, so that its object could be created but not
	// deleted.
	MaxLength = 253
	// MaxText is the length in bytes up to which messages are written to logs, events and conditions.
	MaxText  = 2048
	ellipsis = "…"
)

// Addressable reports whether requests can name the object.
func Addressable(name string) bool { return len(name) <= MaxLength }

// Shorten returns the beginning of a name that is too long.
func Shorten(name string) string { return Truncate(name, MaxLength) }

// Key returns a short identifier of a name, different for different names: the name itself, or the beginning of one
// that is too long and a hash of all of it. Shorten returns the same for a name and its key.
func Key(name string) string {
	if Addressable(name) {
		return name
	}
	// No name that stays as it is has this length.
	return fmt.Sprintf("%s%x", Shorten(name), sha256.Sum256([]byte(name)))
}

// First returns the smallest names in order, at most `most`, without sorting the rest.
func First(all iter.Seq[string], most int) []string {
	var first []string
	for name := range all {
		if i, _ := slices.BinarySearch(first, name); i < most {
			first = slices.Insert(first, i, name)
			first = first[:min(len(first), most)]
		}
	}
	return first
}

// List joins the first names, at most `most`, and says how many more there are.
func List(all []string, most int, separator string) string {
	return AndMore(all[:min(len(all), most)], len(all), separator)
}

// AndMore joins the first of a number of names, and says how many more there are: "a; b; and 3 more".
func AndMore(first []string, number int, separator string) string {
	if more := number - len(first); more > 0 {
		first = append(slices.Clip(first), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(first, separator)
}

// ShortenText returns a message in which no word is longer than a name may be, and which is bounded itself. Errors of
// clients and servers repeat the names of objects.
func ShortenText(text string) string {
	text = Truncate(text, MaxText)
	if len(text) <= MaxLength {
		return text
	}
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, word := range strings.Split(line, " ") {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(Shorten(word))
		}
	}
	return b.String()
}

// Truncate returns the text, or the beginning of one that has more bytes than length, with an ellipsis at the end.
func Truncate(text string, length int) string {
	if len(text) <= length {
		return text
	}
	end := length - len(ellipsis)
	for end > 0 && end > length-len(ellipsis)-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
