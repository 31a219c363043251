package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// firstPoll is how soon it is looked again whether what is waited for is there; it takes ever longer, up to lastPoll.
	firstPoll = 100 * time.Millisecond
	lastPoll  = 2 * time.Second
)

func (w *waiting) addFlags(flags *pflag.FlagSet, until string) {
	flags.BoolVar(&w.on, "wait", false, "Wait "+until)
	flags.DurationVar(&w.timeout, "timeout", 5*time.Minute, "How long to --wait")
}

func (w *waiting) check(dry *dryRun) error {
	if w.on && dry.any() {
		return usage("--wait and --dry-run contradict each other; give one of them")
	}
	return nil
}

// wait returns when missing returns "". What it returns otherwise is shown on a terminal, and is in the error when the time is over.
func (e *Environment) wait(ctx context.Context, w *waiting, missing func(context.Context) (string, error)) error {
	begin := time.Now()
	line := e.progress()
	defer line.end()
	said := "nothing is known yet"
	backoff := wait.Backoff{Duration: firstPoll, Factor: 1.5, Cap: lastPoll, Steps: 20}
	timed, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	err := backoff.DelayFunc().Until(timed, true, true, func(context.Context) (bool, error) {
		// The request itself must not end with the time, or its error would take the place of what is missing.
		what, err := missing(ctx)
		if err != nil || what == "" {
			return true, err
		}
		said = what
		line.show("%s (%s)", what, time.Since(begin).Round(time.Second))
		return false, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("after %s: %s", w.timeout, said)
	}
	return err
}
