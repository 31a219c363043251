// Package pages runs the commands that documentation shows, and compares their output with what it shows.
//
// A page is Markdown. The info string of a fenced block says what the block is:
//
//	sh        commands, which must succeed
//	console   commands after "$ ", each followed by its output, which is compared
//	yaml      manifests, which an API server must accept in a dry run
//	text      anything else: no command
//
// HTML comments, which readers do not see, say more:
//
//	<!-- not run: REASON -->     the next block is not run
//	<!-- run: COMMANDS -->       commands that are run and not shown, such as those that create what a block needs
package pages

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Kind is what a block contains: the first word of its info string.
type Kind string

// The kinds of blocks.
const (
	Shell    Kind = "sh"
	Console  Kind = "console"
	Manifest Kind = "yaml"
	Text     Kind = "text"
)

// Block is a fenced block of a page, or the commands of a comment.
type Block struct {
	Kind Kind
	Text string
	// Line is the number of the first line of Text in the page.
	Line int
	// NotRun says why the block is not run. It is empty if the block is run.
	NotRun string
	// Hidden says that readers do not see the block.
	Hidden bool

	start, stop int
}

// Page is a file of the documentation.
type Page struct {
	Path   string
	Blocks []*Block

	source   []byte
	document ast.Node
}

const (
	notRun = "<!-- not run:"
	hidden = "<!-- run:"
)

// Read parses the page in a file. Comments that no block follows are errors.
func Read(path string) (*Page, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, source)
}

func parse(path string, source []byte) (*Page, error) {
	p := &Page{Path: path, source: source, document: goldmark.DefaultParser().Parse(text.NewReader(source))}
	err := ast.Walk(p.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.FencedCodeBlock:
			p.add(node)
		case *ast.HTMLBlock:
			return ast.WalkContinue, p.comment(node)
		}
		return ast.WalkContinue, nil
	})
	return p, err
}

// add appends a fenced block.
func (p *Page) add(node *ast.FencedCodeBlock) {
	block := p.block(node)
	block.Kind = Kind(node.Language(p.source))
	if previous, ok := node.PreviousSibling().(*ast.HTMLBlock); ok {
		block.NotRun, _ = p.comments(previous, notRun)
	}
	p.Blocks = append(p.Blocks, block)
}

func (p *Page) block(node ast.Node) *Block {
	lines := node.Lines()
	block := &Block{Text: string(lines.Value(p.source))}
	if lines.Len() > 0 {
		block.start, block.stop = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	}
	block.Line = 1 + bytes.Count(p.source[:block.start], []byte("\n"))
	return block
}

// comment appends the commands of a comment, if it has any.
func (p *Page) comment(node *ast.HTMLBlock) error {
	block := p.block(node)
	if _, ok := p.comments(node, notRun); ok {
		if _, ok := node.NextSibling().(*ast.FencedCodeBlock); !ok {
			return fmt.Errorf("%s:%d: no block follows this comment", p.Path, block.Line)
		}
		return nil
	}
	commands, ok := p.comments(node, hidden)
	if !ok {
		return nil
	}
	p.Blocks = append(p.Blocks, &Block{Kind: Shell, Text: commands + "\n", Line: block.Line, Hidden: true})
	return nil
}

// comments returns what a comment with this beginning says.
func (p *Page) comments(node *ast.HTMLBlock, beginning string) (string, bool) {
	whole := node.Lines().Value(p.source)
	if node.HasClosure() {
		whole = append(whole, node.ClosureLine.Value(p.source)...)
	}
	said, ok := strings.CutPrefix(strings.TrimSpace(string(whole)), beginning)
	if !ok {
		return "", false
	}
	return strings.TrimSpace(strings.TrimSuffix(said, "-->")), true
}

// Write stores the page with the present text of its blocks.
func (p *Page) Write() error {
	var whole bytes.Buffer
	end := 0
	for _, block := range p.Blocks {
		if block.Hidden {
			continue
		}
		whole.Write(p.source[end:block.start])
		whole.WriteString(block.Text)
		end = block.stop
	}
	whole.Write(p.source[end:])
	return os.WriteFile(p.Path, whole.Bytes(), 0o600)
}
