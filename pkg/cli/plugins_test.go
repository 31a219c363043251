package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// plugin puts a shell script into PATH, which then has nothing else but sh.
func plugin(t *testing.T, name, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs sh")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestAPluginThatIsMissingIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, command := range []string{"repo", "migrate"} {
		var out bytes.Buffer
		root := NewRoot(NewFactory(&out), genericiooptions.IOStreams{In: &out, Out: &out, ErrOut: &out}, "", NewCommand)
		root.SetArgs([]string{command, "--any", "flag"})
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "kubectl-hns-"+command+" is neither beside kubectl-hns nor in PATH; copy it there") {
			t.Errorf("%s: got %v", command, err)
		}
	}
}

func TestPluginsCompleteTheirOwnArguments(t *testing.T) {
	plugin(t, "kubectl-hns-repo", `printf '%s\n' "$@"; echo :4; echo Completion ended >&2`)
	var out bytes.Buffer
	root := NewRoot(NewFactory(&out), genericiooptions.IOStreams{In: &out, Out: &out, ErrOut: &bytes.Buffer{}}, "", NewCommand)
	root.SetArgs([]string{cobra.ShellCompRequestCmd, "repo", "vet", "--clusters", "p"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if want := "__complete\nvet\n--clusters\np\n:4\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestErrorsOfPluginsAreThoseThatTheyPrint(t *testing.T) {
	plugin(t, "kubectl-hns-migrate", `[ "$1" = good ] && { echo one; echo two; exit; }
[ "$1" = bad ] && echo error: it is bad >&2
exit 1`)
	lines, err := pluginLines(t.Context(), "migrate", "good")
	if err != nil || !slices.Equal(lines, []string{"one", "two"}) {
		t.Errorf("got %q, %v", lines, err)
	}
	for arg, want := range map[string]string{"bad": "it is bad", "silent": "exit status 1"} {
		if _, err := pluginLines(t.Context(), "migrate", arg); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", arg, err, want)
		}
	}
}

func TestPluginsGetTheFlagsOfAllCommands(t *testing.T) {
	var got []string
	root := NewRoot(NewFactory(&bytes.Buffer{}), genericiooptions.IOStreams{}, "", func(*Factory, genericiooptions.IOStreams) *cobra.Command {
		root := &cobra.Command{Use: pluginName}
		child := &cobra.Command{Use: "child", RunE: func(cmd *cobra.Command, _ []string) error {
			got = globalFlags(cmd)
			return nil
		}}
		child.Flags().Bool("own", false, "")
		root.AddCommand(child)
		return root
	})
	root.SetArgs([]string{"--context=a b", "child", "--own", "--as-group=x", "--as-group=y"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"--as-group=x", "--as-group=y", "--context=a b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
