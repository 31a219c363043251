package pages

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// All returns README.md, the pages in docs that are written by hand, and those of the examples, by name.
func All(root string) ([]*Page, error) {
	var files []string
	for _, pattern := range []string{"docs/*.md", "docs/internals/*.md", "examples/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	var all []*Page
	for _, file := range append([]string{filepath.Join(root, "README.md")}, files...) {
		page, err := Read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, page)
	}
	return all, nil
}

// Name returns the name of the page's file, and, of the README of a folder, that of the folder.
func (p *Page) Name() string {
	name, folder := filepath.Base(p.Path), filepath.Base(filepath.Dir(p.Path))
	if name == "README.md" && folder != ".." && folder != "." {
		return folder
	}
	return name
}

// code returns the texts of the page that are code: lines of blocks that readers see, and what is between backquotes.
func (p *Page) code() []string {
	var all []string
	for _, block := range p.Blocks {
		if block.Hidden {
			continue
		}
		for line := range strings.Lines(block.Text) {
			all = append(all, strings.TrimSpace(strings.TrimPrefix(line, "$ ")))
		}
	}
	_ = ast.Walk(p.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if span, ok := node.(*ast.CodeSpan); ok && entering {
			var said strings.Builder
			for child := span.FirstChild(); child != nil; child = child.NextSibling() {
				if words, ok := child.(*ast.Text); ok {
					said.Write(words.Value(p.source))
					said.WriteString(" ")
				}
			}
			all = append(all, strings.TrimSpace(said.String()))
		}
		return ast.WalkContinue, nil
	})
	return all
}

// sources are the parts of the repository that commands of pages name.
type sources struct {
	root string
	// targets are those of the Makefile.
	targets []string
	// functions are the names of tests, benchmarks and fuzz targets, by folder.
	functions map[string][]string
}

var (
	target   = regexp.MustCompile(`(?m)^([a-z-]+):`)
	function = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w*)\(`)
)

func readSources(root string) (*sources, error) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return nil, err
	}
	s := &sources{root: root, functions: map[string][]string{}}
	for _, match := range target.FindAllStringSubmatch(string(makefile), -1) {
		s.targets = append(s.targets, match[1])
	}
	for _, folder := range []string{"cmd", "hack", "pkg", "test"} {
		files := os.DirFS(root)
		err := fs.WalkDir(files, folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			source, err := fs.ReadFile(files, name)
			for _, match := range function.FindAllStringSubmatch(string(source), -1) {
				s.functions[path.Dir(name)] = append(s.functions[path.Dir(name)], match[1])
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

var (
	testName  = regexp.MustCompile(`^(Test|Benchmark|Fuzz)[A-Z]\w*$`)
	directory = regexp.MustCompile(`\./((?:cmd|hack|pkg|test)[\w/.{},-]*)`)
	selection = regexp.MustCompile(`-(?:run|bench|fuzz)[ =]'?([^' ]+)`)
	options   = regexp.MustCompile(`\b([A-Z]+)=`)
)

// check returns what is false about a piece of code in a page: targets, packages and tests that do not exist.
func (s *sources) check(code string) []string {
	var bad []string
	first, _, _ := strings.Cut(code, " ")
	if testName.MatchString(code) && !s.has("...", "^"+code+"$") {
		bad = append(bad, fmt.Sprintf("there is no %s", code))
	}
	if first != "make" && first != "go" {
		return bad
	}
	code, _, _ = strings.Cut(code, " #")
	if first == "make" {
		bad = append(bad, s.checkTargets(code)...)
	}
	folders := directory.FindAllStringSubmatch(code, -1)
	for _, match := range folders {
		folder := strings.TrimSuffix(strings.TrimSuffix(match[1], "..."), "/")
		if names, _ := filepath.Glob(filepath.Join(s.root, strings.SplitN(folder, "{", 2)[0])); len(names) == 0 {
			bad = append(bad, fmt.Sprintf("%s: there is no %s", code, folder))
		}
	}
	for _, match := range selection.FindAllStringSubmatch(code, -1) {
		if len(folders) == 1 && strings.HasPrefix(folders[0][1], "test/bench") || strings.Contains(code, "BENCHFLAGS") {
			continue
		}
		folder := "..."
		if len(folders) == 1 {
			folder = folders[0][1]
		}
		if match[1] != "xxx" && match[1] != "^$" && !s.has(folder, match[1]) {
			bad = append(bad, fmt.Sprintf("%s: no test has a name like %s", code, match[1]))
		}
	}
	return bad
}

// checkTargets returns the targets that the Makefile does not have.
func (s *sources) checkTargets(code string) []string {
	var bad []string
	for _, word := range strings.Fields(code)[1:] {
		if options.MatchString(word) || word == ">" {
			break
		}
		if !strings.HasPrefix(word, "-") && !slices.Contains(s.targets, strings.TrimRight(word, ",;.")) {
			bad = append(bad, fmt.Sprintf("%s: the Makefile has no target %s", code, word))
		}
	}
	return bad
}

// has reports whether a folder, or with /... the folders below, has a function whose name matches.
func (s *sources) has(folder, name string) bool {
	pattern, err := regexp.Compile(name)
	if err != nil {
		return false
	}
	below, recursive := strings.CutSuffix(folder, "...")
	for in, functions := range s.functions {
		if (in == folder || recursive && strings.HasPrefix(in+"/", below)) && slices.ContainsFunc(functions, pattern.MatchString) {
			return true
		}
	}
	return false
}
