package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// results say by the names of all conformance specs which have passed.
type results map[string]bool

// exists reports whether a run has a report.
func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name, reportFile))
	return err == nil
}

// excluded matches specs that are not run; an older report may contain some.
var excluded = regexp.MustCompile(strings.Join(notRun, "|"))

// readResults reads the report of a run.
func readResults(dir, name string) (results, error) {
	raw, err := os.ReadFile(filepath.Join(dir, name, reportFile))
	if err != nil {
		return nil, err
	}
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts, LeafNodeLabels []string
			LeafNodeText, State                     string
		}
	}
	if err := json.Unmarshal(raw, &suites); err != nil {
		return nil, err
	}
	found := results{}
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			if slices.Contains(spec.LeafNodeLabels, "Conformance") {
				texts := slices.DeleteFunc(spec.ContainerHierarchyTexts, func(text string) bool { return text == "" })
				name := strings.Join(append(texts, spec.LeafNodeText), " ")
				found[name] = spec.State == "passed" && !excluded.MatchString(name)
			}
		}
	}
	return found, nil
}

// passed returns the sorted names of the specs that have passed.
func (r results) passed() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r)), func(name string) bool { return !r[name] })
}

// focus returns the regular expression of specs. Ginkgo matches it with the name of the suite and that of the spec.
func focus(names []string) string {
	quoted := make([]string, 0, len(names))
	for _, name := range names {
		quoted = append(quoted, regexp.QuoteMeta(name))
	}
	return " (" + strings.Join(quoted, "|") + ")$"
}
