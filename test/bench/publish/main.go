// Command publish makes the tables and plots of docs/performance.md and docs/scale.md from what the bench has printed.
//
//	go run ./test/bench/publish results.json [more.json ...]
//	go run ./test/bench/publish -soak samples.csv
//
// Of a measurement that was made several times on a forest of the same size and shape, the last one counts. What the files don't hold keeps its
// position in the documents.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	docs := flag.String("docs", "docs", "the folder of the documents")
	png := flag.String("png", "", "folder for the same plots as PNG, to look at; by default there are none")
	soak := flag.String("soak", "", "file of the samples of make soak; its plot is drawn instead")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: publish [flags] RESULTS...\nMakes tables and plots from files of what the bench has printed.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *soak != "" {
		if err := publishSoak(*soak, *docs, *png); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	if err := publish(flag.Args(), *docs, *png, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// publish writes tables and plots from files of results, and says what a human has to add.
func publish(files []string, docs, png string, progress io.Writer) error {
	if len(files) == 0 {
		return errors.New("name the files that hold what the bench has printed")
	}
	var groups []*group
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		groups, err = read(groups, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(groups) == 0 {
		return errors.New("the files hold no results")
	}
	if err := tables(groups, docs, progress); err != nil {
		return err
	}
	folder := filepath.Join(docs, "performance")
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // documents are for everybody
		return err
	}
	for name, p := range plots(groups) {
		if err := p.save(filepath.Join(folder, name+".svg")); err != nil {
			return err
		}
		if png != "" {
			if err := p.save(filepath.Join(png, name+".png")); err != nil {
				return err
			}
		}
	}
	return nil
}
