package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Polling begins with the first interval, which grows up to the last.
const (
	firstInterval = 100 * time.Millisecond
	lastInterval  = 2 * time.Second
)

// waitFlags are the flags --wait and --timeout.
type waitFlags struct {
	enabled bool
	timeout time.Duration
}

func (w *waitFlags) addFlags(flags *pflag.FlagSet, until string) {
	flags.BoolVar(&w.enabled, "wait", false, "Wait "+until)
	flags.DurationVar(&w.timeout, "timeout", 5*time.Minute, "How long to --wait")
}

func (w *waitFlags) validate(dryRun *DryRunFlag) error {
	if w.enabled && dryRun.Enabled() {
		return UsageErrorf("--wait and --dry-run contradict each other; give one of them")
	}
	return nil
}

// poll returns when pending returns "". It shows what pending returns otherwise on a terminal, and after the timeout in
// its error.
func (w *waitFlags) poll(ctx context.Context, errOut io.Writer, pending func(context.Context) (string, error)) error {
	begin := time.Now()
	line := NewProgress(errOut)
	defer line.Clear()
	last := "nothing is known yet"
	backoff := wait.Backoff{Duration: firstInterval, Factor: 1.5, Cap: lastInterval, Steps: 20}
	timed, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	err := backoff.DelayFunc().Until(timed, true, true, func(context.Context) (bool, error) {
		// The timeout must not cancel the request, or its error would replace what is pending.
		what, err := pending(ctx)
		if err != nil || what == "" {
			return true, err
		}
		last = what
		line.Showf("%s (%s)", what, time.Since(begin).Round(time.Second))
		return false, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return timeoutError{fmt.Errorf("after %s: %s", w.timeout, last)}
	}
	return err
}
