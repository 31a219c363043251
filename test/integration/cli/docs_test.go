package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDocumentation runs what docs/cli.md shows, in its order, in the sample tree, and compares the output.
func TestDocumentation(t *testing.T) {
	const file = "../../../docs/cli.md"
	sample, err := cp.Render(t.Context(), "../../../artifacts/sample")
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Apply(t.Context(), sample); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { configure(t) })
	removed(t, "billing")
	waitUntilNothingIsHalted(t)
	dir := t.TempDir()
	if shown := runShown(t, file, dir); shown < 30 {
		t.Errorf("only %d commands are shown", shown)
	}
	image, err := os.ReadFile(filepath.Join(dir, "tree.png"))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "../../../docs/tree.png", string(image))
}

// TestRepositoryDocumentation does the same with docs/repositories.md.
func TestRepositoryDocumentation(t *testing.T) {
	if shown := runShown(t, "../../../docs/repositories.md", t.TempDir()); shown < 7 {
		t.Errorf("only %d commands are shown", shown)
	}
}

// runShown runs the commands that a page shows, in a directory, compares the output, and returns how many there are.
func runShown(t *testing.T, file, dir string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	shown := 0
	for part := range strings.SplitSeq(string(text), "```") {
		shell, ok := strings.CutPrefix(part, "console\n")
		if got.Len() > 0 {
			got.WriteString("```")
		}
		if !ok {
			got.WriteString(part)
			continue
		}
		got.WriteString("console\n")
		for _, command := range commands(shell) {
			got.WriteString("$ " + command.line + "\n" + command.run(t, dir))
			shown++
		}
	}
	compare(t, file, got.String())
	return shown
}

// shownCommand is a command in the documentation, with the output that is shown.
type shownCommand struct{ line, output string }

func commands(shell string) []shownCommand {
	var all []shownCommand
	for line := range strings.Lines(shell) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, shownCommand{line: strings.TrimSuffix(command, "\n")})
		} else if len(all) > 0 {
			all[len(all)-1].output += line
		}
	}
	return all
}

// run returns what the command prints. What only reads is run again until it prints what is shown, for a while: what was changed before may
// take a moment to be seen.
func (c shownCommand) run(t *testing.T, dir string) string {
	t.Helper()
	var got string
	words := strings.Fields(c.line)
	reads := words[1] == "hns" && slices.Contains([]string{"tree", "describe", "who", "explain", "get", "plan"}, words[2])
	try := func() error {
		bin, err := filepath.Abs(binDir)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		command := exec.CommandContext(ctx, "bash", "-c", c.line)
		command.Dir = dir
		command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+root.kubeconfig,
			"KUBECACHEDIR="+filepath.Join(cp.Dir(), "kubectl-cache"), "KUBERC=off")
		// What fails is shown as well.
		out, err := command.CombinedOutput()
		if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
			return err
		}
		if got = string(out); reads && !*update && timeless(got) != timeless(c.output) {
			return errors.New("not as shown")
		}
		return nil
	}
	// The comparison of the whole page reports differences.
	_ = within(deadline/4, try)
	return got
}
