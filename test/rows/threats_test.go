package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedTest matches `TestA`, `TestB` in `file`, as the threat model names tests.
var namedTest = regexp.MustCompile("((?:`Test\\w+`(?:, )?)+) in `([^`]+_test\\.go)`")

// The threat model is worth as much as the tests that it names.
func TestTheThreatModelNamesTestsThatExist(t *testing.T) {
	const root = "../.."
	document, err := os.ReadFile(filepath.Join(root, "docs/threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, match := range namedTest.FindAllStringSubmatch(string(document), -1) {
		path := match[2]
		if !strings.HasPrefix(path, "pkg/") && !strings.HasPrefix(path, "test/") {
			path = filepath.Join("test/integration", path)
		}
		source, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range strings.Split(match[1], ", ") {
			found++
			if name = strings.Trim(name, "`"); !strings.Contains(string(source), "func "+name+"(") {
				t.Errorf("%s has no %s", path, name)
			}
		}
	}
	if all := strings.Count(string(document), "`Test"); found != all {
		t.Errorf("%d of %d tests are named with their file", found, all)
	}
}
