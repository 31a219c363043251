package suite

import (
	"flag"
	"testing"
)

var long = flag.Bool("long", false, "run the long form of tests that repeat something: see make long")

// Size is how often, or with how many objects, a test does something: short, or long with the flag -long. Call it in
// tests, when flags are parsed.
func Size(short, more int) int {
	if *long {
		return more
	}
	return short
}

// OnlyLong skips a test that takes too long for every change, unless the flag -long is set.
func OnlyLong(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("the long form alone has it: make long")
	}
}
