package pages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Runner runs pages. The commands of a page share a working directory and exported variables.
type Runner struct {
	// Dir is the working directory, which looks like the root of the repository.
	Dir string
	// Env is the environment, besides that of this process.
	Env []string
	// Update makes Run write the output into the page, where it differs, instead of failing.
	Update bool
	// Patience is how long a command that only reads is repeated until it prints what is shown.
	Patience time.Duration
	// Before and After are called before and after each block that is run, if they are not nil.
	Before, After func(Block)
}

// yes is the answer to all questions of commands.
const yes = "yes\n"

// interval is the time between two runs of a command that reads.
const interval = 500 * time.Millisecond

// Run runs the blocks of a page in their order. It ends the test if a block of kind sh fails.
func (r Runner) Run(t *testing.T, page *Page) {
	t.Helper()
	r.Env = append(r.Env, "PAGE_STATE="+filepath.Join(t.TempDir(), "state"))
	changed := false
	for _, block := range page.Blocks {
		if block.NotRun != "" || block.Kind == Text {
			continue
		}
		if r.Before != nil {
			r.Before(*block)
		}
		begin := time.Now()
		switch block.Kind {
		case Shell:
			if out, err := r.bash(t, block.Text, yes); err != nil {
				t.Fatalf("%s:%d: %v\n%s", page.Path, block.Line, err, out)
			}
		case Manifest:
			verb := "apply"
			if strings.Contains(block.Text, "generateName:") {
				verb = "create"
			}
			if out, err := r.bash(t, "kubectl "+verb+" --dry-run=server --validate=strict -f -", block.Text); err != nil {
				t.Errorf("%s:%d: %v\n%s", page.Path, block.Line, err, out)
			}
		case Console:
			printed := r.console(t, block.Text)
			if timeless(printed) == timeless(block.Text) {
				break
			}
			if r.Update {
				block.Text, changed = printed, true
			} else {
				t.Errorf("%s:%d: got\n%s\nshown is\n%s", page.Path, block.Line, printed, block.Text)
			}
		}
		if r.After != nil {
			r.After(*block)
		}
		t.Logf("%s:%d: %.1f s", page.Name(), block.Line, time.Since(begin).Seconds())
	}
	if changed {
		if err := page.Write(); err != nil {
			t.Error(err)
		}
	}
}

// console runs the commands of a block, and returns the block with their output.
func (r Runner) console(t *testing.T, block string) string {
	t.Helper()
	var got strings.Builder
	for _, c := range commands(block) {
		out, err := r.bash(t, c.line, yes)
		for end := time.Now().Add(r.Patience); reads(c.line) && !r.Update && timeless(out) != timeless(c.output) && time.Now().Before(end); {
			time.Sleep(interval)
			out, err = r.bash(t, c.line, yes)
		}
		// What fails is shown as well.
		if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "$ %s\n%s", c.line, out)
	}
	return got.String()
}

// reads reports whether a command only reads, so that it can be repeated.
func reads(line string) bool {
	words := append(strings.Fields(line), "", "", "")
	if words[0] != "kubectl" {
		return words[0] == "cat"
	}
	verb := words[1]
	if verb == "hns" {
		verb = words[2]
	}
	return slices.Contains([]string{"get", "describe", "tree", "who", "explain", "plan", "hrq", "quota", "doctor"}, verb)
}

// bash runs a script in the state that the one before has left, and returns what it prints.
func (r Runner) bash(t *testing.T, script, input string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	const prologue = `set -eo pipefail
if [ -e "$PAGE_STATE" ]; then . "$PAGE_STATE"; cd "$PWD"; fi
trap 'export -p > "$PAGE_STATE"' EXIT
`
	command := exec.CommandContext(ctx, "bash", "-c", prologue+script)
	command.Dir = r.Dir
	command.Env = append(os.Environ(), r.Env...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	return string(out), errors.Join(err, ctx.Err())
}

// command is a line of a block, with the output that is shown.
type command struct{ line, output string }

func commands(block string) []command {
	var all []command
	for line := range strings.Lines(block) {
		if shown, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{line: strings.TrimSuffix(shown, "\n")})
		} else if len(all) > 0 {
			all[len(all)-1].output += line
		}
	}
	return all
}
