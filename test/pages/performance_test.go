package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inShort matches a line of the first table of the page of performance: figures, and the row that they come from.
var inShort = regexp.MustCompile("(?m)^\\| [^|]+\\| ([^|]+) \\| ?([^|]*?) ?\\| (`[^`]+`) \\|$")

// The figures that the page of performance begins with are those of its results, which make publish writes.
func TestTheFirstFiguresAreThoseOfTheResults(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs/performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	first, results, found := strings.Cut(string(raw), "<!-- begin results -->")
	if !found {
		t.Fatal("there are no results")
	}
	figures := inShort.FindAllStringSubmatch(first, -1)
	for _, figure := range figures {
		hns, without, row := figure[1], figure[2], figure[3]
		_, rest, found := strings.Cut(results, "| "+row+" |")
		if cells := strings.Split(rest, "|"); !found || strings.TrimSpace(cells[0]) != hns || strings.TrimSpace(cells[1]) != without {
			t.Errorf("the results do not have %q and %q of %s", hns, without, row)
		}
	}
	if len(figures) < 8 {
		t.Errorf("only %d figures are found", len(figures))
	}
}
