package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/migrate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/repo"
)

// commands writes the page of the plugin's commands, those of its own plugins included.
func commands() (string, error) {
	var page strings.Builder
	page.WriteString("# Commands\n\nWhat `kubectl hns COMMAND --help` says. [kubectl hns](../cli.md) has explanations and output.\n")
	roots := plugins()
	writeGroups(&page, roots[0])
	for _, root := range roots {
		writeCommand(&page, root, root.DisplayName())
	}
	text := page.String()
	if home, err := os.UserHomeDir(); err == nil {
		text = strings.ReplaceAll(text, home+"/", "~/")
	}
	return text, nil
}

// writeGroups writes the table of the groups in which the help of a command shows those below it.
func writeGroups(page *strings.Builder, root *cobra.Command) {
	page.WriteString("\n| Group | Commands |\n| --- | --- |\n")
	for _, group := range append(root.Groups(), &cobra.Group{Title: "Other:"}) {
		var links []string
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID && !cmd.Hidden {
				anchor := strings.ReplaceAll(root.DisplayName()+" "+cmd.Name(), " ", "-")
				links = append(links, fmt.Sprintf("[`%s`](#%s)", cmd.Name(), anchor))
			}
		}
		fmt.Fprintf(page, "| %s | %s |\n", strings.TrimSuffix(group.Title, ":"), strings.Join(links, ", "))
	}
}

// plugins returns the root commands of kubectl-hns and of its own plugins.
func plugins() []*cobra.Command {
	streams := genericiooptions.NewTestIOStreamsDiscard()
	var roots []*cobra.Command
	for _, build := range []func(*cli.Factory, genericiooptions.IOStreams) *cobra.Command{cli.NewCommand, repo.NewCommand, migrate.NewCommand} {
		roots = append(roots, cli.NewRoot(cli.NewFactory(streams.ErrOut), streams, "", build))
	}
	return roots
}

// writeCommand writes the section of a command, and those of the commands below it.
func writeCommand(page *strings.Builder, cmd *cobra.Command, path string) {
	if cmd.Hidden || cmd.DisableFlagParsing {
		return
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	fmt.Fprintf(page, "\n## %s\n\n```text\n%s\n\n%s\n```\n", path, strings.TrimSpace(path+" "+arguments), strings.TrimSpace(text))
	if cmd.Example != "" {
		fmt.Fprintf(page, "\n```text\n%s\n```\n", strings.Trim(cmd.Example, "\n"))
	}
	if flags := cmd.LocalFlags().FlagUsages(); flags != "" {
		fmt.Fprintf(page, "\n```text\n%s```\n", flags)
	}
	for _, child := range cmd.Commands() {
		writeCommand(page, child, path+" "+child.Name())
	}
}
