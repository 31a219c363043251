// Command rows tells where each row of HNC's behaviour is tested, by the names of tests, or documented as different. It fails if one is
// neither, or if a test or the document names a row that there is not. Run it from the repository's root; -v lists every row.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"strings"
)

// document is where differences are documented.
const document = "docs/compatibility.md"

//go:embed rows.txt
var list string

func main() {
	verbose := flag.Bool("v", false, "list every row, and where it is tested or documented")
	flag.Parse()
	if err := run(*verbose); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(verbose bool) error {
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
	c := cover(rows, names, document, string(content))
	if verbose {
		for _, r := range c.rows {
			where := c.tests[r.id]
			if line := c.docs[r.id]; line > 0 {
				where = append(where, fmt.Sprintf("%s:%d", document, line))
			}
			fmt.Printf("%-34s %s\n", r.id, strings.Join(where, " "))
		}
	}
	fmt.Print(c.summary())
	missing := c.missing()
	for _, r := range missing {
		fmt.Printf("neither tested nor documented: %s %s\n", r.id, r.gist)
	}
	for _, wrong := range c.wrongs {
		fmt.Println(wrong)
	}
	if n := len(missing) + len(c.wrongs); n > 0 {
		return fmt.Errorf("%d problems with the rows of HNC's behaviour", n)
	}
	return nil
}
