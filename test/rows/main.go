// Command rows lists which rules of HNC's behaviour have a test that ran and passed, and which differ, as
// docs/internals/hnc-rules.md says. It fails if a rule is neither, or if a test or the document names one that there is
// not. Run it from the repository's root:
//
//	go test -json ./... | go run ./test/rows -results   shows the results of the tests, records them, and reports
//	go run ./test/rows -v                               lists every rule by the last record
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"strings"
)

// document is where differences are documented.
const document = "docs/internals/hnc-rules.md"

//go:embed rows.txt
var list string

// record holds the names of the tests that passed when all tests ran last.
const record = "_output/tests-passed"

func main() {
	verbose := flag.Bool("v", false, "list every row, and where it is tested or documented")
	results := flag.Bool("results", false, "read what go test -json prints from the standard input")
	partial := flag.Bool("partial", false, "with -results: not all tests run, so neither record nor report")
	flag.Parse()
	if err := run(*verbose, *results, *partial); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(verbose, results, partial bool) error {
	if results {
		passed, err := follow(os.Stdin, os.Stdout)
		if err != nil || partial {
			return err
		}
		if err := os.WriteFile(record, []byte(strings.Join(passed, "\n")), 0o600); err != nil {
			return err
		}
	}
	passed, err := os.ReadFile(record)
	if err != nil {
		return fmt.Errorf("which tests ran is not known; run make test: %w", err)
	}
	rows, err := parseRows(list)
	if err != nil {
		return err
	}
	names, err := testNames(".")
	if err != nil {
		return err
	}
	content, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	c := cover(rows, names, strings.Split(string(passed), "\n"), document, string(content))
	if verbose {
		for _, r := range c.rows {
			where := c.tests[r.id]
			if d, ok := c.docs[r.id]; ok {
				where = append(where, fmt.Sprintf("%s:%d", document, d.line))
			}
			fmt.Printf("%-34s %-10s %s\n", r.id, c.category(r), strings.Join(where, " "))
		}
	}
	fmt.Print(c.summary())
	missing := c.missing()
	for _, r := range missing {
		fmt.Printf("neither documented nor tested by a test that passed: %s %s\n", r.id, r.summary)
	}
	for _, invalid := range c.errors {
		fmt.Println(invalid)
	}
	if n := len(missing) + len(c.errors); n > 0 {
		return fmt.Errorf("%d problems with the rows of HNC's behaviour", n)
	}
	return nil
}
