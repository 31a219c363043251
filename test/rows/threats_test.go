package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namedTest matches `TestA`, `TestB` in `file`, as the page of attacks names tests.
var namedTest = regexp.MustCompile("((?:`Test\\w+`(?:, )?)+) in `([^`]+_test\\.go)`")

const root = "../.."

func page(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The page of attacks is worth as much as the tests that it names.
func TestThePageOfAttacksNamesTestsThatExist(t *testing.T) {
	attacks := page(t, "docs/internals/attacks.md")
	found := 0
	for _, match := range namedTest.FindAllStringSubmatch(attacks, -1) {
		path := match[2]
		if folder, _, _ := strings.Cut(path, "/"); !slices.Contains([]string{"hack", "pkg", "test"}, folder) {
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
	if all := strings.Count(attacks, "`Test"); found != all {
		t.Errorf("%d of %d tests are named with their file", found, all)
	}
	if found < 500 {
		t.Errorf("only %d tests are found", found)
	}
}

// Each table of attacks belongs to a section of the threat model with the rules that end them.
func TestTheThreatModelHasRulesForEachTableOfAttacks(t *testing.T) {
	model, found := page(t, "docs/threat-model.md"), 0
	for _, section := range strings.Split(page(t, "docs/internals/attacks.md"), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		if !strings.Contains(body, "| Attack | Prevented by | Test |") {
			continue
		}
		found++
		if !strings.Contains(model, "### "+title+"\n") {
			t.Errorf("docs/threat-model.md has no section %q", title)
		}
		if link := "(internals/attacks.md#" + strings.ReplaceAll(strings.ToLower(title), " ", "-") + ")"; !strings.Contains(model, link) {
			t.Errorf("docs/threat-model.md has no link %s", link)
		}
	}
	if found < 10 {
		t.Errorf("only %d tables are found", found)
	}
}
