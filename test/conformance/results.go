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

// resultsPath returns the file with the results of a run.
func resultsPath(dir, name string) string { return filepath.Join(dir, name+".json") }

// exists reports whether a run has results.
func exists(dir, name string) bool {
	_, err := os.Stat(resultsPath(dir, name))
	return err == nil
}

// excluded matches specs that are not run; older results may contain some.
var excluded = regexp.MustCompile(strings.Join(notRun, "|"))

// readResults reads the results of a run.
func readResults(dir, name string) (results, error) {
	raw, err := os.ReadFile(resultsPath(dir, name))
	if err != nil {
		return nil, err
	}
	var found results
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, err
	}
	maps.DeleteFunc(found, func(name string, passed bool) bool { return passed && excluded.MatchString(name) })
	return found, nil
}

// keepResults adds what the report of a run says to its results in a directory: specs that the run has left out keep
// those that they have.
func keepResults(dir, to, name string) error {
	kept := results{}
	if exists(to, name) {
		var err error
		if kept, err = readResults(to, name); err != nil {
			return err
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, name, reportFile))
	if err != nil {
		return err
	}
	if err := kept.add(raw); err != nil {
		return err
	}
	encoded, err := json.MarshalIndent(kept, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(resultsPath(to, name), encoded, 0o600)
}

// add adds the results in a report of Ginkgo.
func (r results) add(report []byte) error {
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts, LeafNodeLabels []string
			LeafNodeText, State                     string
		}
	}
	if err := json.Unmarshal(report, &suites); err != nil {
		return err
	}
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			if slices.Contains(spec.LeafNodeLabels, "Conformance") {
				texts := slices.DeleteFunc(spec.ContainerHierarchyTexts, func(text string) bool { return text == "" })
				name := strings.Join(append(texts, spec.LeafNodeText), " ")
				if _, known := r[name]; !known || spec.State != "skipped" {
					r[name] = spec.State == "passed"
				}
			}
		}
	}
	return nil
}

// passed returns the sorted names of the specs that have passed.
func (r results) passed() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r)), func(name string) bool { return !r[name] })
}

// exactly returns the regular expression of specs. Ginkgo matches it with the name of the suite and that of the spec.
func exactly(names []string) string {
	quoted := make([]string, 0, len(names))
	for _, name := range names {
		quoted = append(quoted, regexp.QuoteMeta(name))
	}
	return " (" + strings.Join(quoted, "|") + ")$"
}
