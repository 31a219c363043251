// Command bench measures how fast hierarchies are, on a real control plane that it starts itself, against what the same
// API server can do without us. It prints one JSON object for each measurement on standard output, and its progress on
// standard error. docs/performance.md says what each measurement means.
//
// It fails when something panics or is inconsistent, such as a copy that is missing; never because something is slow.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// options are what the flags say.
type options struct {
	// Quick is the form for CI: small numbers, one round.
	Quick bool
	// Run selects rows by their names.
	Run string
	// Namespaces is the size of the forest; what is about 1 000 namespaces of 10 000 is about a tenth of it.
	Namespaces int
	Kinds      string
	Objects    int
	Rounds     int
	Topology   string
	Profile    string
	// Root is the repository, with the binaries in _output/bin.
	Root string
	// Dir keeps the state of the control plane, for a look at it; empty means a temporary directory.
	Dir string
	// Propagator are further flags of hns-propagator.
	Propagator string
	// Timeout bounds each wait for the servers to get something right.
	Timeout time.Duration
}

func defaults() options {
	return options{
		Run: ".", Namespaces: 10_000, Kinds: "rolebindings", Objects: 5, Rounds: 3, Topology: "full", Root: ".", Timeout: 20 * time.Minute,
	}
}

func (o *options) addFlags(fs *flag.FlagSet) {
	fs.BoolVar(&o.Quick, "quick", o.Quick, "small numbers and one round, to see whether everything works; times mean nothing then")
	fs.StringVar(&o.Run, "run", o.Run, "regular expression that selects rows by name: "+strings.Join(rowNames(), ", "))
	fs.IntVar(&o.Namespaces, "namespaces", o.Namespaces, "size of the forest; rows about a part of it use a tenth")
	fs.StringVar(&o.Kinds, "kinds", o.Kinds, "kinds to propagate, separated by commas: "+strings.Join(kindNames(), ", "))
	fs.IntVar(&o.Objects, "objects", o.Objects, "sources of each kind")
	fs.IntVar(&o.Rounds, "rounds", o.Rounds, "how often each measurement is repeated; the median is printed")
	fs.StringVar(&o.Topology, "topology", o.Topology, "shape of the trees: wide (1+N), full (1+N+N²), skewer (as deep as can be) or mixed")
	fs.StringVar(&o.Profile, "profile", o.Profile, "directory for profiles of both servers and of kube-apiserver (CPU, heap, mutex, block); they slow the servers down")
	fs.StringVar(&o.Root, "root", o.Root, "the repository, built")
	fs.StringVar(&o.Dir, "dir", o.Dir, "new directory for the control plane's state, which is kept; by default a temporary one")
	fs.StringVar(&o.Propagator, "propagator", o.Propagator, "further flags of hns-propagator, separated by spaces, to compare what they do")
	fs.DurationVar(&o.Timeout, "timeout", o.Timeout, "how long to wait, at most, until the servers have got something right")
}

// complete applies -quick and checks the rest.
func (o *options) complete() error {
	if o.Quick {
		o.Namespaces, o.Objects, o.Rounds, o.Timeout = 40, 2, 1, 2*time.Minute
	}
	if o.Namespaces < 40 || o.Objects < 1 || o.Rounds < 1 {
		return fmt.Errorf("-namespaces must be at least 40, -objects and -rounds at least 1")
	}
	if _, err := regexp.Compile(o.Run); err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	if _, err := parents(o.Topology, 1); err != nil {
		return err
	}
	_, err := chosenKinds(o.Kinds)
	return err
}

// part is how many namespaces a row uses that is not about the whole forest.
func (o *options) part() int { return max(o.Namespaces/10, 10) }

func main() {
	o := defaults()
	o.addFlags(flag.CommandLine)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1) //nolint:gocritic // nothing else is deferred than what the process's end does
	}
}

// run measures the selected rows. Its error holds those of all rows.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	if err := o.complete(); err != nil {
		return err
	}
	selected := regexp.MustCompile(o.Run)
	b := &bench{options: o, out: out, progress: progress, machine: machine()}
	defer b.stop()
	var failed []string
	for _, r := range rows {
		if !selected.MatchString(r.name) {
			continue
		}
		b.sayf("--- %s: %s", r.name, r.about)
		b.row = r.name
		if err := b.measure(ctx, r); err != nil {
			b.sayf("FAILED %s: %v", r.name, err)
			failed = append(failed, fmt.Sprintf("%s: %v", r.name, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s", strings.Join(failed, "; "))
	}
	return nil
}
