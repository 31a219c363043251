package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

const root = "../.."

// looksLikeACommand matches lines that belong into a block that is run.
var looksLikeACommand = regexp.MustCompile(`(?m)^(\$ |kubectl |helm |make |git |go |artifacts/)`)

func all(t *testing.T) []*Page {
	t.Helper()
	pages, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 20 {
		t.Fatalf("only %d pages are found", len(pages))
	}
	return pages
}

func TestEveryBlockIsRunOrMarked(t *testing.T) {
	for _, page := range all(t) {
		for _, block := range page.Blocks {
			if problem := block.problem(); problem != "" {
				t.Errorf("%s:%d: %s", page.Path, block.Line, problem)
			}
		}
	}
}

func TestProblemsOfBlocks(t *testing.T) {
	for text, valid := range map[string]bool{
		"$ kubectl get ns a | grep a\na\n":                      true,
		"$ kubectl get ns a | grep b\n":                         false,
		"$ kubectl get ns a | grep b\n$ kubectl get ns\nNAME\n": false,
		"$ kubectl delete ns a --wait=false\n":                  true,
		"kubectl get ns\n":                                      false,
	} {
		block := Block{Kind: Console, Text: text}
		if problem := block.problem(); (problem == "") != valid {
			t.Errorf("%q: %q", text, problem)
		}
	}
}

func (b *Block) problem() string {
	switch b.Kind {
	case Shell, Console, Manifest:
		if b.Kind == Console && b.NotRun == "" && !strings.HasPrefix(b.Text, "$ ") {
			return "no command: begin with $"
		}
		for _, c := range commands(b.Text) {
			if b.Kind == Console && c.output == "" && strings.Contains(c.line, "| grep ") {
				return "no output: " + c.line
			}
		}
	case Text:
		if b.NotRun != "" {
			return "a text is never run: remove the comment"
		}
		if looksLikeACommand.MatchString(b.Text) {
			return "a text contains a command: use sh or console"
		}
	default:
		return "the block says not what it is: " + string(b.Kind) + "; add sh, console, yaml or text"
	}
	return ""
}

// A page that another suite runs is named there.
func TestPagesAreRunElsewhereAsSaid(t *testing.T) {
	for page, suite := range RunElsewhere {
		named := false
		files, err := filepath.Glob(filepath.Join(root, suite, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			named = named || strings.Contains(string(source), "docs/"+page)
		}
		if !named {
			t.Errorf("no test of %s names docs/%s", suite, page)
		}
	}
}

func TestPagesNameWhatExists(t *testing.T) {
	s, err := readSources(root)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, page := range all(t) {
		for _, code := range page.code() {
			for _, bad := range s.check(code) {
				t.Errorf("%s: %s", page.Path, bad)
			}
			checked++
		}
	}
	if checked < 1000 {
		t.Errorf("only %d pieces of code are found", checked)
	}
}

func TestNamesThatDoNotExist(t *testing.T) {
	s, err := readSources(root)
	if err != nil {
		t.Fatal(err)
	}
	for code, valid := range map[string]bool{
		"make up":        true,
		"make up HA=1":   true,
		"make upp":       false,
		"make -s verify": true,
		"make quick PACKAGES=./test/pages TESTFLAGS='-run Names -v'":   true,
		"make quick PACKAGES=./test/pages TESTFLAGS='-run Nothing -v'": false,
		"make quick PACKAGES=./test/page":                              false,
		"go test ./test/... -run TestNamesThatDoNotExist":              true,
		"go test ./pkg/... -run TestNamesThatDoNotExist":               false,
		"go run ./hack/nothing":                                        false,
		"TestNamesThatDoNotExist":                                      true,
		"TestNamesThatDoNotExistAtAll":                                 false,
	} {
		if bad := s.check(code); (len(bad) == 0) != valid {
			t.Errorf("%s: %v", code, bad)
		}
	}
}

// Links inside the repository lead to files, and to headings in pages.
func TestLinks(t *testing.T) {
	checked := 0
	names, err := filepath.Glob(filepath.Join(root, "docs/reference/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	linking := append(all(t), read(t, "CONTRIBUTING.md"), read(t, "SECURITY.md"), read(t, "CHANGELOG.md"))
	for _, name := range names {
		linking = append(linking, read(t, filepath.Join("docs/reference", filepath.Base(name))))
	}
	for _, page := range linking {
		for _, link := range page.links() {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			checked++
			file, anchor, _ := strings.Cut(link, "#")
			file = filepath.Join(filepath.Dir(page.Path), file)
			if strings.HasPrefix(link, "#") {
				file = page.Path
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %s: %v", page.Path, link, err)
				continue
			}
			if anchor == "" || filepath.Ext(file) != ".md" {
				continue
			}
			target, err := Read(file)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(target.anchors(), anchor) {
				t.Errorf("%s: %s has no %s", page.Path, file, anchor)
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d links are found", checked)
	}
}

func read(t *testing.T, name string) *Page {
	t.Helper()
	page, err := Read(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func (p *Page) links() []string {
	var all []string
	_ = ast.Walk(p.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := node.(*ast.Link); ok && entering {
			all = append(all, string(link.Destination))
		}
		return ast.WalkContinue, nil
	})
	return all
}

var (
	named       = regexp.MustCompile(`id="([^"]+)"`)
	punctuation = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the anchors of a page, made of headings as GitHub makes them, or written as HTML.
func (p *Page) anchors() []string {
	var all []string
	for _, match := range named.FindAllStringSubmatch(string(p.source), -1) {
		all = append(all, match[1])
	}
	_ = ast.Walk(p.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if heading, ok := node.(*ast.Heading); ok && entering {
			title := strings.ToLower(strings.ReplaceAll(string(heading.Lines().Value(p.source)), "`", ""))
			all = append(all, strings.ReplaceAll(punctuation.ReplaceAllString(title, ""), " ", "-"))
		}
		return ast.WalkContinue, nil
	})
	return all
}

func TestParse(t *testing.T) {
	const source = "# Title\n\n<!-- run: one -->\n```sh\ntwo\n```\n\n<!-- not run: it is slow -->\n```console\n$ three\n3\n```\n\n- a list\n\n  ```text\n  four\n  ```\n\n<!-- anything else -->\n"
	page, err := parse("page.md", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{
		{Kind: Shell, Text: "one\n", Line: 3, Hidden: true},
		{Kind: Shell, Text: "two\n", Line: 5},
		{Kind: Console, Text: "$ three\n3\n", Line: 10, NotRun: "it is slow"},
		{Kind: Text, Text: "four\n", Line: 17},
	}
	for i, block := range page.Blocks {
		block.start, block.stop = 0, 0
		if i >= len(want) || *block != want[i] {
			t.Errorf("block %d is %+v", i, *block)
		}
	}
	if len(page.Blocks) != len(want) {
		t.Errorf("got %d blocks, want %d", len(page.Blocks), len(want))
	}
	if _, err := parse("page.md", []byte("<!-- not run: why -->\n\nwords\n")); err == nil {
		t.Error("a comment without a block is accepted")
	}
}
