package names

import (
	"regexp"
	"strings"
)

// plainWord matches what no shell changes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/=@%+,][A-Za-z0-9._:/=@%+,-]*$`)

// ShellWord returns a text as one word of a POSIX shell. Names that others have chosen are part of commands that users copy.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
