package main

import "bytes"

// part is one word of a text, in lower case, and the line that it begins in.
type part struct {
	text string
	line int
}

// split returns the words of a text, in order. Anything but a letter separates words, and so does a capital in an identifier:
// inPlace, InPlace and in_place are "in" and "place", HTTPPlace is "http" and "place". Line ends and comment markers are not letters,
// so a phrase that spans two lines of a comment is one phrase.
func split(text []byte) []part {
	var parts []part
	line, begin := 1, -1
	end := func(at int) {
		if begin >= 0 {
			parts = append(parts, part{string(bytes.ToLower(text[begin:at])), line})
			begin = -1
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && bytes.IndexByte([]byte("abfnrtv"), text[i+1]) >= 0:
			end(i)
			i++ // the n of \n is not a letter of the text
		case !letter(c):
			end(i)
			if c == '\n' {
				line++
			}
		case begin < 0:
			begin = i
		case upper(c) && (!upper(text[i-1]) || i+1 < len(text) && letter(text[i+1]) && !upper(text[i+1])):
			end(i)
			begin = i
		}
	}
	end(len(text))
	return parts
}

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }

// letter reports whether a byte belongs to a word. Bytes above ASCII do, so a word with an umlaut stays one word.
func letter(c byte) bool { return upper(c) || 'a' <= c && c <= 'z' || c >= 0x80 }
