package validation

import (
	"fmt"
	"regexp/syntax"
)

// maxPatternSize bounds the memory and the time that a pattern takes, which repetitions of repetitions multiply.
const maxPatternSize = 2000

// ValidatePattern returns an error unless a regular expression is valid in RE2 syntax, and small when its repetitions
// are written out.
func ValidatePattern(pattern string) error {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return err
	}
	if size(parsed) > maxPatternSize {
		return fmt.Errorf("the pattern has more than %d parts when its repetitions are written out; repeat less", maxPatternSize)
	}
	return nil
}

// size returns the number of parts of an expression, at most somewhat more than maxPatternSize.
func size(e *syntax.Regexp) int {
	n := 1 + len(e.Rune)
	for _, part := range e.Sub {
		if n += size(part); n > maxPatternSize {
			return n
		}
	}
	if e.Op == syntax.OpRepeat {
		n *= max(e.Min, e.Max, 1)
	}
	return n
}
