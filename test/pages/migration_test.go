package pages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The page shows a part of what a test gets from `kubectl hns migrate --dry-run`.
func TestTheDryRunOfAMigrationIsThatOfATest(t *testing.T) {
	printed, err := os.ReadFile(filepath.Join(root, "test/integration/migrate/testdata/dry-run.golden"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/migration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```text\n")
	block, _, ends := strings.Cut(block, "\n```")
	if !found || !ends {
		t.Fatal("docs/migration.md does not show what it prints")
	}
	lines := strings.Split(string(printed), "\n")
	for line := range strings.SplitSeq(block, "\n") {
		if !slices.Contains(lines, line) {
			t.Errorf("docs/migration.md says what is not printed: %s", line)
		}
	}
}
