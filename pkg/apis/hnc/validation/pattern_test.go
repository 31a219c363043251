package validation

import (
	"strings"
	"testing"
)

func TestPatternsAreSmall(t *testing.T) {
	for name, row := range map[string]struct {
		pattern string
		valid   bool
	}{
		"empty":                      {"", true},
		"ordinary":                   {`(team|env)-[a-z0-9]{1,20}\.example\.com/.*`, true},
		"a long name":                {strings.Repeat("a", 1024), true},
		"a repetition":               {"(?:x?){400}", true},
		"a long repetition":          {"(?:ab){1000}", false},
		"repetitions of repetitions": {"(?:(?:x{30}){30}){30}", false},
		"a long one, repeated":       {"(?:" + strings.Repeat("x?", 500) + "){1000}", false},
		"not RE2":                    {"(?!a)", false},
	} {
		if err := ValidatePattern(row.pattern); (err == nil) != row.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
