// Package yamlbody bounds the YAML that clients send. YAML parsers bound how many values aliases stand for, but not how
// many bytes: a text that many aliases repeat becomes as many times as large.
package yamlbody

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxBytes is the size of YAML that is accepted. Parsers need some hundred bytes for a value of two.
const MaxBytes = 256 << 10

// Check returns an error unless text is JSON, or YAML of at most MaxBytes without aliases. Clients of Kubernetes send
// JSON, also where the media type is that of YAML.
func Check(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	if len(text) > MaxBytes {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("YAML may have at most %d bytes; send JSON", MaxBytes))
	}
	if !bytes.ContainsRune(text, '*') {
		return nil // An alias begins with it.
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return apierrors.NewBadRequest("malformed YAML: " + err.Error())
	}
	if line := alias(&document); line > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("line %d: YAML aliases are not accepted; write the value out, or send JSON", line))
	}
	return nil
}

// alias returns the line of an alias, 0 if there is none. The parser bounds how deep nodes are nested.
func alias(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		return n.Line
	}
	for _, child := range n.Content {
		if line := alias(child); line > 0 {
			return line
		}
	}
	return 0
}
