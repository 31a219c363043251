package yamlbody

import (
	"errors"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxIndentation is how many bytes of indentation an object in YAML may have: a large CustomResourceDefinition has half a
// megabyte.
const maxIndentation = 8 << 20

// ErrTooDeep is the error for an object whose YAML would consist of spaces.
var ErrTooDeep = errors.New("the object is too deep to be written as YAML")

// Marshal returns a value of decoded JSON as YAML, or ErrTooDeep. Each line has two spaces for each level around it, so a
// text of 100 kB in thousands of levels would have hundreds of megabytes.
func Marshal(value any) ([]byte, error) { return marshal(value, maxIndentation) }

// FromJSON returns JSON as YAML, with its integers, or ErrTooDeep. A list of many objects may have more indentation than
// one object: 16 times its text.
func FromJSON(text []byte) ([]byte, error) {
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &value); err != nil {
		return nil, err
	}
	return marshal(value, max(maxIndentation, 16*len(text)))
}

func marshal(value any, indentation int) ([]byte, error) {
	if !indent(value, 0, &indentation) {
		return nil, ErrTooDeep
	}
	return yaml.Marshal(value)
}

// indent subtracts from left how many bytes of indentation a value in so many levels may need, and reports whether these
// are enough.
func indent(value any, level int, left *int) bool {
	*left -= 2 * level
	if *left < 0 {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if !indent(name, level, left) || !indent(member, level+1, left) {
				return false
			}
		}
	case []any:
		for _, element := range value {
			if !indent(element, level+1, left) {
				return false
			}
		}
	case string:
		// Texts are broken in lines at breaks, of which U+0085, U+2028 and U+2029 have several bytes, and long ones at spaces.
		for i := range len(value) {
			if c := value[i]; c <= ' ' || c == 0xc2 || c == 0xe2 {
				*left -= 2 * level
			}
		}
	}
	return *left >= 0
}
