package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSoakHasAPlot(t *testing.T) {
	docs := t.TempDir()
	if err := os.Mkdir(filepath.Join(docs, "performance"), 0o700); err != nil {
		t.Fatal(err)
	}
	header := "seconds"
	for _, panel := range panels {
		for _, s := range panel.series {
			header += "," + s.column
		}
	}
	row := strings.Repeat(",3", strings.Count(header, ","))
	file := filepath.Join(docs, "soak.csv")
	if err := os.WriteFile(file, []byte(header+"\n0"+row+"\n60"+row+"\n120"+row+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publishSoak(file, docs, ""); err != nil {
		t.Fatal(err)
	}
	svg := content(t, docs, "performance", "soak.svg")
	for _, panel := range panels {
		if !strings.Contains(svg, panel.y) {
			t.Errorf("soak.svg does not say %q", panel.y)
		}
	}
	legible(t, "soak", svg)
	if err := os.WriteFile(file, []byte("seconds,queue\n0,1\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publishSoak(file, docs, ""); err == nil || !strings.Contains(err.Error(), "apiserver-goroutines") {
		t.Errorf("a file without a column: %v", err)
	}
}
