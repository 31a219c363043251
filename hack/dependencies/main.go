// Command dependencies compares docs/dependencies.md with the modules and tools that the go.mod files of this
// repository require directly: each needs a row that says what it is for, and each row a requirement. Usage, from the
// root of the repository: go run ./hack/dependencies
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/hack/tracked"
)

const page = "docs/dependencies.md"

func main() {
	problems, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	for _, line := range problems {
		fmt.Println(line)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

func run() ([]string, error) {
	files, err := tracked.Files(nil, func(name string) bool { return filepath.Base(name) == "go.mod" })
	if err != nil {
		return nil, err
	}
	required := map[string][]string{}
	for _, file := range files {
		output, err := exec.Command("go", "mod", "edit", "-json", file).Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if required[file], err = direct(output); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	return compare(required, string(text)), nil
}

// direct returns the modules and tools that a go.mod file, as JSON, requires directly.
func direct(mod []byte) ([]string, error) {
	var parsed struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(mod, &parsed); err != nil {
		return nil, err
	}
	var paths []string
	for _, r := range parsed.Require {
		if !r.Indirect {
			paths = append(paths, r.Path)
		}
	}
	for _, t := range parsed.Tool {
		paths = append(paths, t.Path)
	}
	return paths, nil
}

// section is a heading that names a go.mod file, and row a row of the table below it that names one or several modules
// in its first column and has text in its second.
var (
	section = regexp.MustCompile("^## .*`([^`]*go\\.mod)`")
	row     = regexp.MustCompile("^\\| (`[^|]*`) \\| *([^ |][^|]*)\\|")
	code    = regexp.MustCompile("`([^`]+)`")
)

// compare returns a line for each requirement without a row in the section of its file, and for each row without a
// requirement.
func compare(required map[string][]string, text string) []string {
	documented := map[string][]string{}
	file := ""
	for line := range strings.Lines(text) {
		if found := section.FindStringSubmatch(line); found != nil {
			file = found[1]
		}
		if found := row.FindStringSubmatch(line); found != nil {
			for _, path := range code.FindAllStringSubmatch(found[1], -1) {
				documented[file] = append(documented[file], path[1])
			}
		}
	}
	var problems []string
	for _, file := range slices.Sorted(maps.Keys(required)) {
		for _, path := range required[file] {
			if !slices.Contains(documented[file], path) {
				problems = append(problems, fmt.Sprintf("%s: add a row for %s to the section of %s that says what it is for", page, path, file))
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(documented)) {
		for _, path := range documented[file] {
			if !slices.Contains(required[file], path) {
				problems = append(problems, fmt.Sprintf("%s: remove %s: %s does not require it directly", page, path, file))
			}
		}
	}
	return problems
}
