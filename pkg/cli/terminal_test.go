package cli

import (
	"io"
	"strings"
	"testing"
)

// Answers that are piped reach the questions in their order.
func TestConfirmedReadsOneLine(t *testing.T) {
	in := strings.NewReader("yes\nno\nyes")
	for i, want := range []bool{true, false, true, false} {
		if got := Confirmed(in, io.Discard, "? "); got != want {
			t.Errorf("question %d: %t, want %t", i, got, want)
		}
	}
}
