package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Commands that link much are plugins of their own. kubectl finds them by name: `kubectl hns repo` runs
// kubectl-hns-repo. Where kubectl-hns itself is called with such a command, it runs that plugin.

// pluginName is the name of the main plugin, and begins those of the others.
const pluginName = "kubectl-hns"

// newPlugin returns a command that the plugin of its name runs, with all flags and arguments.
func newPlugin(name, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return becomePlugin(name, args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return completePlugin(cmd.Context(), name, append(args, word))
		},
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if err := becomePlugin(name, []string{"--help"}); err != nil {
			cmd.PrintErrln("error:", err)
		}
	})
	return cmd
}

// findPlugin returns the path of the plugin of a command: beside this executable, or else in PATH.
func findPlugin(command string) (string, error) {
	name := pluginName + "-" + command
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("the executable %s is neither beside %s nor in PATH; copy it there from the archive that contains %s", name, pluginName, pluginName)
	}
	return path, nil
}

// becomePlugin replaces the process by the plugin of a command. It returns only if that fails, and on Windows, where
// the plugin is a child.
func becomePlugin(command string, args []string) error {
	path, err := findPlugin(command)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" {
		return syscall.Exec(path, append([]string{path}, args...), os.Environ())
	}
	child := exec.Command(path, args...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = child.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exitError{exit.ExitCode()}
	}
	return err
}

// pluginLines returns what the plugin of a command prints, by lines. The error is what it prints as such.
func pluginLines(ctx context.Context, command string, args ...string) ([]string, error) {
	path, err := findPlugin(command)
	if err != nil {
		return nil, err
	}
	var out, errOut bytes.Buffer
	child := exec.CommandContext(ctx, path, args...)
	child.Stdout, child.Stderr = &out, &errOut
	if err := child.Run(); err != nil {
		if text := strings.TrimSpace(strings.TrimPrefix(errOut.String(), "error: ")); text != "" {
			return nil, errors.New(text)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// completePlugin returns the completions of the last argument that the plugin of a command has. The last line that
// cobra prints for them is the directive.
func completePlugin(ctx context.Context, command string, args []string) ([]string, cobra.ShellCompDirective) {
	lines, err := pluginLines(ctx, command, append([]string{cobra.ShellCompRequestCmd}, args...)...)
	if err != nil || len(lines) == 0 {
		return nil, cobra.ShellCompDirectiveError
	}
	directive, err := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return lines[:len(lines)-1], cobra.ShellCompDirective(directive)
}

// globalFlags returns the flags of all commands that the user has given, as arguments for a plugin.
func globalFlags(cmd *cobra.Command) (args []string) {
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			args = append(args, "--"+f.Name+"="+value)
		}
	})
	return args
}
