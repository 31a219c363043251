// Command publish makes the tables and plots of docs/performance.md and docs/scale.md from what the bench has printed.
//
//	make publish RESULTS='results.json [more.json ...]'
//	make publish RESULTS='-soak samples.csv'
//
// Of a measurement that was made several times on a forest of the same size and shape, the last one counts. All that is
// published is kept in docs/performance/results.json, to which further results are added. Without any, it is rendered
// again.
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
		fmt.Fprintln(os.Stderr, "usage: publish [flags] [RESULTS...]\nMakes tables and plots from files of what the bench has printed.")
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
	folder := filepath.Join(docs, "performance")
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // documents are for everybody
		return err
	}
	published := filepath.Join(folder, "results.json")
	if _, err := os.Stat(published); err == nil {
		files = append([]string{published}, files...)
	}
	if len(files) == 0 {
		return errors.New("name the files that hold what the bench has printed")
	}
	groups, err := readFiles(files)
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		return errors.New("the files hold no results")
	}
	if err := tables(groups, docs, progress); err != nil {
		return err
	}
	if err := write(published, groups); err != nil {
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
