package names

import (
	"fmt"
	"regexp"
	"strings"
)

// plainWord matches what no shell changes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/=@%+,][A-Za-z0-9._:/=@%+,-]*$`)

// ShellWord returns a text as one word of a shell. Names that others have chosen are part of commands that users copy.
// A terminal acts on some characters even within quotes, and others are not seen: these are escaped as bash, zsh and
// ksh read them.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	if Printable(text) != text {
		var b strings.Builder
		for _, c := range []byte(text) {
			if c < ' ' || c > '~' || c == '!' || c == '\'' || c == '\\' {
				fmt.Fprintf(&b, "\\%03o", c)
			} else {
				b.WriteByte(c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
