package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestExamplesAreValidCommandLines(t *testing.T) {
	for _, root := range plugins() {
		checkExamples(t, root)
	}
}

// checkExamples parses the examples of a command, and of those below it. One of them must show the command itself.
func checkExamples(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	shown := cmd.Example == ""
	for line := range strings.Lines(cmd.Example) {
		for _, args := range invocations(line) {
			found, err := parse(args)
			if err != nil {
				t.Errorf("%s: %s: %v", cmd.CommandPath(), strings.TrimSpace(line), err)
				continue
			}
			shown = shown || found.CommandPath() == cmd.CommandPath()
		}
	}
	if !shown {
		t.Errorf("no valid example of %s shows it", cmd.CommandPath())
	}
	for _, child := range cmd.Commands() {
		checkExamples(t, child)
	}
}

// parse returns the command that the arguments of `kubectl hns` name, or an error if they are not valid.
func parse(args []string) (*cobra.Command, error) {
	roots := plugins()
	root := roots[0]
	for _, plugin := range roots[1:] {
		if len(args) > 0 && args[0] == plugin.Name() {
			root, args = plugin, args[1:]
			break
		}
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil, err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return nil, err
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return nil, err
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return nil, err
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return nil, err
	}
	if rules := cmd.Flags().Lookup("rules"); rules != nil && rules.Changed {
		return cmd, yaml.UnmarshalStrict([]byte(rules.Value.String()), &v1beta1.Rules{})
	}
	return cmd, nil
}

var (
	word   = regexp.MustCompile(`[|&<>]+|#.*|(?:'[^']*'|"[^"]*"|[^\s'"|&<>])+`)
	quoted = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
)

// invocations returns the arguments of each `kubectl hns` in a line of shell.
func invocations(line string) [][]string {
	var all [][]string
	var words []string
	end := func() {
		if len(words) > 1 && words[0] == "kubectl" && words[1] == "hns" {
			all = append(all, words[2:])
		}
		words = nil
	}
	redirects := false
	for _, w := range word.FindAllString(line, -1) {
		switch {
		case w[0] == '#':
		case w[0] == '|' || w[0] == '&':
			end()
		case w[0] == '<' || w[0] == '>':
			redirects = true
		case redirects: // The name of the file.
			redirects = false
		default:
			words = append(words, quoted.ReplaceAllString(w, "${1}${2}"))
		}
	}
	end()
	return all
}
