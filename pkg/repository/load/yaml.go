package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// yaml reads a YAML file with any number of documents. It stops at the first document that cannot be parsed.
func (l *loader) yaml(name string, data []byte) {
	if line := longDocument(data, l.limits.DocumentBytes); line > 0 {
		l.fail(report.LimitExceeded, report.Position(name, line), "the document is larger than %s", size(l.limits.DocumentBytes))
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for !l.exhausted() {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			l.fail(report.UnreadableFile, name, "the file is not valid YAML: %v", err)
			return
		}
		c := converter{limits: &l.limits}
		value, err := c.value(&document, 0)
		if err == nil {
			err = l.spend(c.values, 0)
		}
		// What a file has is spent already; aliases may make much more of it.
		if l.expanded += c.bytes; err == nil && l.expanded > l.limits.TotalBytes {
			err = fmt.Errorf("the repository is larger than %s with its aliases expanded; split it into several", size(l.limits.TotalBytes))
		}
		var bad *nodeError
		switch {
		case errors.As(err, &bad):
			l.fail(bad.code, report.Position(name, bad.line), "%s", bad.message)
			return
		case err != nil:
			l.fail(report.LimitExceeded, report.Position(name, document.Line), "%v", err)
			return
		}
		l.add(name, value, content(&document))
	}
}

// content returns the node of a document or an alias.
func content(n *yaml.Node) *yaml.Node {
	for n != nil {
		switch {
		case n.Kind == yaml.DocumentNode && len(n.Content) == 1:
			n = n.Content[0]
		case n.Kind == yaml.AliasNode:
			n = n.Alias
		default:
			return n
		}
	}
	return nil
}

// longDocument returns the line on which the first document longer than limit begins, or 0.
func longDocument(data []byte, limit int64) int {
	line, start, begin := 1, 0, 1
	for at := 0; at < len(data); line++ {
		if isSeparator(data[at:]) {
			start, begin = at, line
		}
		next := bytes.IndexByte(data[at:], '\n') + 1
		if next == 0 {
			next = len(data) - at
		}
		at += next
		if int64(at-start) > limit {
			return begin
		}
	}
	return 0
}

// isSeparator reports whether a line begins a new document.
func isSeparator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
