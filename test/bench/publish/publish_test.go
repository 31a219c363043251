package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const want = `# Performance
<!-- begin results -->
**10,000 namespaces, topology full**

| Row | HNS | Compared with | Ratio | Target | |
| --- | --- | --- | --- | --- | --- |
| ''growth-leaf-100'' | 10 ms | 10 ms | 1 | ≤ 1.5 | met |
| ''growth-leaf-1000'' | 16 ms | 10 ms | 1.6 | ≤ 1.5 | **not met** |
| ''parent-p99'' | 324 ms | 173 ms | 1.87 |  |  |
| ''tree'' | not measured: the server has no hierarchies/tree | | | | |
| ''copies'' | 1,234 copies/s | 1,300 copies/s | 0.95 (0.85–0.991) | ≥ 0.9 | met, interval crosses |
| ''restart-hns-propagator-writes'' | 0 writes |  |  | ≤ 0 writes | met |
| ''memory-hns-apiserver'' | 558 MB |  |  | ≤ 250 MB | **not met** |

**1,000 namespaces, topology skewer**

| Row | HNS | Compared with | Ratio | Target | |
| --- | --- | --- | --- | --- | --- |
| ''copies'' | 800 copies/s | 1,000 copies/s | 0.8 | ≥ 0.9 | **not met** |

Measured on 2 × Example, 8 GiB.
<!-- end results -->

## What is not met

''growth-leaf-1000'' and ''copies'': because.
`

const wantScale = `<!-- begin decide -->
| Namespaces | | read | enter | decide all | one change | one leaf | move | take over | heap |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| 1,000 | trees of 100 |  |  | 0.0379 s |  |  |  |  | 7.43 MB |
| 10,000 | trees of 100 |  |  | 0.481 s |  |  |  |  |  |
<!-- end decide -->
<!-- begin size -->
| Row | Bytes | Without HNS | What |
| --- | --- | --- | --- |
| ''size-edge'' | 61 |  | an edge |
<!-- end size -->
`

func document(text string) string { return strings.ReplaceAll(text, "''", "`") }

// documents makes a folder of documents whose tables are old.
func documents(t *testing.T) string {
	t.Helper()
	docs := t.TempDir()
	for name, text := range map[string]string{"performance.md": want, "scale.md": wantScale} {
		lines := strings.SplitAfter(document(text), "\n")
		var empty strings.Builder
		inside := false
		for _, line := range lines {
			if strings.HasPrefix(line, "<!-- end") {
				inside = false
				empty.WriteString("old\n")
			}
			if !inside {
				empty.WriteString(line)
			}
			inside = inside || strings.HasPrefix(line, "<!-- begin")
		}
		if err := os.WriteFile(filepath.Join(docs, name), []byte(empty.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return docs
}

func content(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestResultsAreInTheDocuments(t *testing.T) {
	docs := documents(t)
	var progress bytes.Buffer
	if err := publish([]string{"testdata/results.json"}, docs, t.TempDir(), &progress); err != nil {
		t.Fatal(err)
	}
	if got := content(t, docs, "performance.md"); got != document(want) {
		t.Errorf("performance.md:\n%s", got)
	}
	if got := content(t, docs, "scale.md"); got != document(wantScale) {
		t.Errorf("scale.md:\n%s", got)
	}
	if got := progress.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "memory-hns-apiserver") {
		t.Errorf("asked to explain: %q", got)
	}
	for name, words := range map[string][]string{
		"ratios": {"growth-leaf-1000", "1.60  (≤ 1.5)", "0.95  (≥ 0.9)", "10,000 namespaces, topology full. 2 × Example, 8 GiB"},
		"growth": {"16 ms", "1,000"},
		"memory": {"hns-apiserver", "(≤ 250)"},
		"decide": {"decide about all", "heap"},
	} {
		svg := content(t, docs, "performance", name+".svg")
		for _, word := range words {
			if !strings.Contains(svg, word) {
				t.Errorf("%s.svg does not say %q", name, word)
			}
		}
		legible(t, name, svg)
	}
}

// legible fails the test if a drawing has no background, or a color without one for the dark color scheme.
func legible(t *testing.T, name, svg string) {
	t.Helper()
	style, drawn, found := strings.Cut(svg, "</style>")
	if !found || !strings.Contains(style, "prefers-color-scheme: dark") {
		t.Fatalf("%s.svg has no style for the dark color scheme", name)
	}
	if first := strings.Index(drawn, "style="); first < 0 || !strings.HasPrefix(drawn[first:], `style="fill:#FFFFFF"`) {
		t.Errorf("%s.svg has no background", name)
	}
	for _, set := range regexp.MustCompile(`(?:fill|stroke):#\w+`).FindAllString(drawn, -1) {
		if !strings.Contains(style, `[style*="`+set+`"]`) {
			t.Errorf("%s.svg has %s, which is the same in the dark color scheme", name, set)
		}
	}
}

func TestRowsThatAreMissingHaveNoPlot(t *testing.T) {
	for name, line := range map[string]string{
		"":       `{"name":"tree","skipped":true,"note":"no"}`,
		"ratios": `{"name":"tree","value":1,"unit":"s","raw":1,"ratio":1,"target":"ratio <= 1","met":true}`,
		"growth": `{"name":"growth-leaf-100","value":1,"unit":"ms"}`,
		"memory": `{"name":"memory-hns-apiserver","value":100,"unit":"MB","target":"value <= 250","met":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			docs, file := documents(t), filepath.Join(t.TempDir(), "results.json")
			if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := publish([]string{file}, docs, "", &bytes.Buffer{}); err != nil {
				t.Fatal(err)
			}
			made, err := filepath.Glob(filepath.Join(docs, "performance", "*.svg"))
			if err != nil {
				t.Fatal(err)
			}
			for i, file := range made {
				made[i] = strings.TrimSuffix(filepath.Base(file), ".svg")
			}
			if got := strings.Join(made, " "); got != name {
				t.Errorf("plots %q", got)
			}
			if got := content(t, docs, "scale.md"); !strings.Contains(got, "old") {
				t.Errorf("a table of which there is nothing new has gone:\n%s", got)
			}
		})
	}
}

func TestADocumentWithoutItsMarkerIsNamed(t *testing.T) {
	docs := documents(t)
	if err := os.WriteFile(filepath.Join(docs, "scale.md"), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publish([]string{"testdata/results.json"}, docs, "", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "scale.md") {
		t.Errorf("error %v", err)
	}
}

func TestNumbersAreShort(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.0759: "0.0759", 1.205: "1.21", 46.96: "47", 142.5: "142", 1234.5: "1,234", 100000: "100,000", 1058.6: "1,059"} {
		if got := number(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}

func TestFurtherResultsAreAddedToWhatIsPublished(t *testing.T) {
	docs, file := documents(t), filepath.Join(t.TempDir(), "more.json")
	more := `{"name":"parent-p99","value":100,"unit":"ms","raw":50,"ratio":2,"n":1,"rounds":1,"machine":"2 × Example, 8 GiB","namespaces":10000,"topology":"full"}`
	if err := os.WriteFile(file, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"testdata/results.json", file} {
		if err := publish([]string{file}, docs, "", &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
	}
	// Without further ones, what is published is rendered again.
	if err := publish(nil, docs, "", &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	all := strings.Replace(document(want), "| 324 ms | 173 ms | 1.87 |", "| 100 ms | 50 ms | 2 |", 1)
	if got := content(t, docs, "performance.md"); got != all {
		t.Errorf("performance.md:\n%s", got)
	}
}
