// Command reference writes the reference pages of docs/reference, and the chart's README, from the code that they
// describe. With -check it writes nothing and fails if a page is out of date. Run it from the repository's root.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// pages are the generated files, and what writes each.
var pages = map[string]func() (string, error){
	"docs/reference/api.md":               api,
	"docs/reference/commands.md":          commands,
	"docs/reference/flags.md":             flags,
	"docs/reference/limits.md":            limits,
	"docs/reference/metrics.md":           metrics,
	"docs/reference/names.md":             names,
	"docs/reference/policies.md":          policies,
	"docs/reference/repository-errors.md": repositoryErrors,
	"docs/reference/roles.md":             roles,
	"artifacts/chart/README.md":           chart,
}

const notice = "<!-- Written by hack/reference: do not edit. -->\n\n"

func main() {
	check := flag.Bool("check", false, "write nothing, and fail if a page is out of date")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(check bool) error {
	var stale []string
	for file, write := range pages {
		text, err := write()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		page := []byte(notice + strings.TrimSpace(text) + "\n")
		if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, page) {
			continue
		}
		if check {
			stale = append(stale, file)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a folder of this repository
			return err
		}
		if err := os.WriteFile(file, page, 0o644); err != nil { //nolint:gosec // a file of this repository
			return err
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("these pages are out of date, run: go run ./hack/reference: %s", strings.Join(stale, " "))
	}
	return nil
}

// cell returns text as the content of a cell of a table: on one line, with what Markdown would interpret escaped.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	parts := strings.Split(text, "`")
	for i := range parts {
		if i%2 == 0 {
			parts[i] = strings.NewReplacer("<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "{{", "{&#123;").Replace(parts[i])
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "`"), "|", `\|`)
}

// code returns text as a code span in a cell, "" for none.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}
