// Command words finds words that this repository does not use, in text, identifiers and file names.
// words.txt lists these words, their replacements, and the phrases in which they are allowed.
// Usage, from the root of the repository: go run ./hack/words [PATH...]
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/hack/tracked"
)

//go:embed words.txt
var words string

func main() {
	list, err := parse(words)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words.txt:", err)
		os.Exit(2)
	}
	files, err := tracked.Files(os.Args[1:], checked)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	findings, err := search(list, files)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		fmt.Fprintf(os.Stderr, "%d words to replace; hack/words/words.txt explains how to allow one\n", len(findings))
		os.Exit(1)
	}
}

// checked reports whether a file is hand-written and of a checked format.
func checked(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".sh", ".yaml":
	default:
		return false
	}
	return !strings.HasPrefix(name, "pkg/generated/") && !strings.HasPrefix(name, "hack/words/") &&
		!strings.HasPrefix(path.Base(name), "zz_generated")
}

// search returns the findings in the names and contents of files. Each folder name is reported once.
func search(list *list, files []string) ([]finding, error) {
	var all []finding
	seen := map[string]bool{}
	for _, name := range files {
		content, err := os.ReadFile(name) //nolint:gosec // a file of this repository
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but not yet in the index
		}
		if err != nil {
			return nil, err
		}
		prefix := ""
		for elem := range strings.SplitSeq(name, "/") {
			if prefix = path.Join(prefix, elem); !seen[prefix] {
				seen[prefix] = true
				all = append(all, list.find(prefix, []byte(elem))...)
			}
		}
		if bytes.IndexByte(content, 0) < 0 {
			all = append(all, list.find(name, content)...)
		}
	}
	return all, nil
}
