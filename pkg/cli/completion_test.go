package cli

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
)

// A shell must not hang because a server does, whatever is completed.
func TestCompletionEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Hour) // The late one ends, too.
		begin := time.Now()
		complete := func(takes time.Duration) []string {
			words, _ := CompleteArgs(1, func(*cobra.Command, string) []string {
				time.Sleep(takes)
				return []string{"team-a"}
			})(&cobra.Command{}, nil, "")
			return words
		}
		if words := complete(completionTimeout / 2); len(words) != 1 {
			t.Errorf("in time: got %v", words)
		}
		if words := complete(time.Hour); len(words) != 0 || time.Since(begin) > 2*completionTimeout {
			t.Errorf("too late: got %v after %s", words, time.Since(begin))
		}
	})
}
