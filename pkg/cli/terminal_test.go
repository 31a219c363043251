package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Answers that are piped reach the questions in their order. The questions leave standard output to results.
func TestConfirmReadsOneLine(t *testing.T) {
	var out, errOut strings.Builder
	streams := genericiooptions.IOStreams{In: strings.NewReader("yes\nno\nyes"), Out: &out, ErrOut: &errOut}
	refused := errors.New("refused")
	for i, want := range []error{nil, refused, nil, refused} {
		if got := Confirm(t.Context(), streams, "? ", refused); !errors.Is(got, want) {
			t.Errorf("question %d: %v, want %v", i, got, want)
		}
	}
	if out.String() != "" || errOut.String() != "? ? ? ? " {
		t.Errorf("got %q on standard output, %q on standard error", out.String(), errOut.String())
	}
}

func TestConfirmEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, open := io.Pipe()
	defer func() { _ = open.Close() }()
	cancel()
	streams := genericiooptions.IOStreams{In: in, Out: io.Discard, ErrOut: io.Discard}
	if err := Confirm(ctx, streams, "? ", errors.New("refused")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
