package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// yaml reads a YAML file with any number of documents. It stops at the first document that cannot be parsed.
func (l *loader) yaml(name string, data []byte) {
	if line, problem := largeDocument(data, &l.limits); line > 0 {
		l.fail(report.LimitExceeded, report.Position(name, line), "%s", problem)
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

// largeDocument returns the line on which the first document begins that is too large to be parsed, and why; or 0.
func largeDocument(data []byte, limits *Limits) (line int, problem string) {
	start, begin := 0, 1
	for at, line := 0, 1; ; line++ {
		if at == len(data) || isSeparator(data[at:]) {
			document := data[start:at]
			if int64(len(document)) > limits.DocumentBytes {
				return begin, fmt.Sprintf("the document is larger than %s", size(limits.DocumentBytes))
			}
			if err := manyValues(document, false, limits); err != nil {
				return begin, err.Error()
			}
			start, begin = at, line
		}
		if at == len(data) {
			return 0, ""
		}
		next := bytes.IndexByte(data[at:], '\n') + 1
		if next == 0 {
			next = len(data) - at
		}
		at += next
	}
}

// manyValues returns an error about a document with so many characters that could begin a value, some of which are in
// texts, that parsing it takes too much memory: a value of two bytes takes hundreds.
func manyValues(document []byte, isJSON bool, limits *Limits) error {
	if yamlbody.Values(document, isJSON) > limits.TotalValues {
		return fmt.Errorf("the document has more than %d commas, colons, brackets or line breaks, each of which could begin a value; split it", limits.TotalValues)
	}
	return nil
}

// isSeparator reports whether a line begins a new document.
func isSeparator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
