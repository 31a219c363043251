// Package yamlbody bounds the YAML that clients send, and that is written of their objects. YAML parsers bound how many values aliases stand for, but not how
// many bytes: a text that many aliases repeat becomes as many times as large.
package yamlbody

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// MaxBytes is the size of YAML that is accepted.
	MaxBytes = 256 << 10
	// MaxValues is the number of values, also in JSON. Parsers of YAML need some hundred bytes for a value of two.
	MaxValues = 32 << 10
	// MaxLevels is the number of levels of objects and lists in each other, also in JSON. Decoding them is recursive.
	MaxLevels = 1000
)

// ErrLevels is the error for an object of more than MaxLevels levels.
var ErrLevels error = apierrors.NewBadRequest(fmt.Sprintf("the object has more than %d levels; use fewer", MaxLevels))

// Check returns an error unless text has at most about MaxValues values in MaxLevels levels, and is JSON, or YAML of at
// most MaxBytes without aliases. Clients of Kubernetes send JSON, also where the media type is that of YAML; it is parsed
// as YAML all the same.
func Check(text []byte) error {
	isJSON := json.Valid(text)
	values, levels := count(text, isJSON)
	switch {
	case values > MaxValues:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("YAML, or JSON in its place, may have at most %d values; send JSON as such", MaxValues))
	case isJSON && levels > MaxLevels:
		return ErrLevels
	case isJSON:
		return nil
	case len(text) > MaxBytes:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("YAML may have at most %d bytes; send JSON", MaxBytes))
	case values <= MaxLevels && !bytes.ContainsRune(text, '*'):
		return nil // Each level has a value, and an alias begins with an asterisk.
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return apierrors.NewBadRequest("malformed YAML: " + err.Error())
	}
	return checkNode(&document, MaxLevels)
}

// CheckValues returns an error if JSON has more than about MaxValues values, for objects that are decoded into maps.
func CheckValues(text []byte) error {
	if Values(text, true) > MaxValues {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object may have at most %d values here", MaxValues))
	}
	return nil
}

// Values returns how many values a text may have at most: those of JSON follow an opening bracket, comma or colon
// outside of strings; in YAML, a line can begin one, too, and what is a string is not known before it is parsed. In
// UTF-16, which parsers of YAML read, too, the characters that begin one have a zero byte.
func Values(text []byte, isJSON bool) int {
	values, _ := count(text, isJSON)
	return values
}

// Levels returns how many objects and lists of JSON are in each other at most.
func Levels(text []byte) int {
	_, levels := count(text, true)
	return levels
}

// count returns what Values and Levels return. In YAML, brackets may be text, so the levels are not known.
func count(text []byte, isJSON bool) (values, levels int) {
	values = 1
	level, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case isJSON && quoted && c == '\\':
			i++
		case isJSON && c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			values++
			level++
			levels = max(levels, level)
		case c == ']', c == '}':
			level--
		case c == ',', c == ':', !isJSON && (c == '?' || c == 0 || isBreak(text[:i+1]) || c == '-' && beginsBlank(text[i+1:])):
			values++
		}
	}
	return values, levels
}

// isBreak reports whether a text ends with what YAML reads as the end of a line. A carriage return before a line feed
// belongs to that one.
func isBreak(text []byte) bool {
	switch text[len(text)-1] {
	case '\n':
		return !bytes.HasSuffix(text, []byte("\r\n"))
	case '\r':
		return true
	case 0x85, 0xa8, 0xa9: // U+0085, U+2028 and U+2029
		return bytes.HasSuffix(text, []byte("\u0085")) || bytes.HasSuffix(text, []byte("\u2028")) || bytes.HasSuffix(text, []byte("\u2029"))
	}
	return false
}

// beginsBlank reports whether a text may begin with what makes a dash before it the beginning of a value in YAML: a
// space, a tab, a break, or its end.
func beginsBlank(text []byte) bool {
	return len(text) == 0 || bytes.IndexByte([]byte(" \t\r\n\x00\xc2\xe2"), text[0]) >= 0
}

// checkNode returns an error if a node is or contains an alias, or has more than so many levels.
func checkNode(n *yaml.Node, levels int) error {
	switch n.Kind {
	case yaml.AliasNode:
		return apierrors.NewBadRequest(fmt.Sprintf("line %d: YAML aliases are not accepted; write the value out, or send JSON", n.Line))
	case yaml.MappingNode, yaml.SequenceNode:
		if levels--; levels < 0 {
			return ErrLevels
		}
	}
	for _, child := range n.Content {
		if err := checkNode(child, levels); err != nil {
			return err
		}
	}
	return nil
}
