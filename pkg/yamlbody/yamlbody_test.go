package yamlbody

import (
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"
)

func TestCheck(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		bad  func(error) bool
	}{
		"JSON":                    {`{"a": "*b", "c": "&d"}`, nil},
		"large JSON":              {`["` + strings.Repeat("x", MaxBytes) + `"]`, nil},
		"YAML":                    {"schedule: '*/5 & more'\nb: |\n  *not an alias\n", nil},
		"an alias":                {"a: &a x\nb: *a\n", apierrors.IsBadRequest},
		"an alias that merges":    {"a: &a {b: c}\nd: {<<: *a}\n", apierrors.IsBadRequest},
		"an alias of itself":      {"a: &a [*a]\n", apierrors.IsBadRequest},
		"in a later document":     {"a: b\n---\na: &a x\nb: *a\n", nil}, // Nobody reads it.
		"an unknown alias":        {"a: *b\n", apierrors.IsBadRequest},
		"a text that is repeated": {`a: &a "` + strings.Repeat("x", 1000) + "\"\nb: [" + strings.Repeat("*a,", 1000) + "]\n", apierrors.IsBadRequest},
		"large YAML":              {"a: " + strings.Repeat("x", MaxBytes), apierrors.IsRequestEntityTooLargeError},
		"no YAML":                 {"*", apierrors.IsBadRequest},
		"JSON of many texts":      {`["` + strings.Repeat(`,:[{\"`, MaxValues) + `"]`, nil},
		"JSON of many values":     {"[0" + strings.Repeat(",0", MaxValues) + "]", apierrors.IsRequestEntityTooLargeError},
		"JSON of many levels":     {strings.Repeat("[", MaxLevels) + strings.Repeat("]", MaxLevels), nil},
		"JSON of more levels":     {strings.Repeat("[", MaxLevels+1) + strings.Repeat("]", MaxLevels+1), apierrors.IsBadRequest},
		"JSON of many lists":      {"[" + strings.Repeat(`["["],`, MaxLevels+1) + "0]", nil},
		"YAML of many levels":     {"#\n" + strings.Repeat("{a: ", MaxLevels) + strings.Repeat("}", MaxLevels), nil},
		"YAML of more levels":     {"#\n" + strings.Repeat("{a: ", MaxLevels+1) + strings.Repeat("}", MaxLevels+1), apierrors.IsBadRequest},
		"lists of more levels":    {strings.Repeat("- ", MaxLevels+1) + "a", apierrors.IsBadRequest},
		"brackets in texts":       {strings.Repeat(`{"}": `, MaxLevels+1) + strings.Repeat("}", MaxLevels+1) + " # not JSON", apierrors.IsBadRequest},
		"YAML of many lists":      {strings.Repeat("- [a]\n", 2*MaxLevels), nil},
		"YAML of many values":     {"a: [0" + strings.Repeat(",0", MaxValues) + "]", apierrors.IsRequestEntityTooLargeError},
		"YAML of many lines":      {strings.Repeat("- 0\n", MaxValues), apierrors.IsRequestEntityTooLargeError},
		"dashes and returns":      {strings.Repeat("-\r", MaxValues/2), apierrors.IsRequestEntityTooLargeError},
		"dashes and next lines":   {strings.Repeat("-\u0085", MaxValues/2), apierrors.IsRequestEntityTooLargeError},
		"dashes and separators":   {strings.Repeat("-\u2028-\u2029", MaxValues/4), apierrors.IsRequestEntityTooLargeError},
		"dashes and tabs":         {strings.Repeat("-\t", MaxValues), apierrors.IsRequestEntityTooLargeError},
		"names and returns":       {strings.Repeat("a\r", MaxValues), apierrors.IsRequestEntityTooLargeError},
		"UTF-16":                  {"\xff\xfe" + strings.Repeat("-\x00 \x00", MaxValues/2), apierrors.IsRequestEntityTooLargeError},
		"lines of Windows":        {strings.Repeat("a: 0\r\n", MaxValues/2-1), nil},
		"dashes in a text":        {"a: " + strings.Repeat("-", MaxBytes-100), nil},
		"YAML with a long text":   {"a: |\n" + strings.Repeat("  some words, and then more of them\n", 5000), nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check([]byte(row.text))
			if (err == nil) != (row.bad == nil) || err != nil && !row.bad(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzCheck: what is accepted does not become much larger as JSON.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"a: &a x\nb: *a\n", `{"a":1}`, "a: !!binary x", "? *a\n: b", "a: *b", "- &x y\n- *x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if Check(text) != nil {
			return
		}
		if converted, err := yaml.YAMLToJSON(text); err == nil && len(converted) > 100+12*len(text) {
			t.Errorf("%d bytes become %d", len(text), len(converted))
		}
	})
}

// FuzzValues: the parser finds no more values than are counted before.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{"a: [b, {c: d}]\n", "- - -\r- x", "-\u0085-\u2028-\u2029", "? a\n? b", "\xff\xfe-\x00 \x00-\x00", "\xfe\xff\x00-\x00\r\x00-", "-\t-", "a\r\n b", `{"a":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var document yamlv3.Node
		if yamlv3.Unmarshal(text, &document) != nil {
			return
		}
		// A member of a mapping is a node for its name and one for its value. The document is none.
		if nodes := nodesOf(&document) - 1; nodes > 2*Values(text, false) {
			t.Errorf("%q has %d nodes, and %d values were counted", text, nodes, Values(text, false))
		}
	})
}

func nodesOf(n *yamlv3.Node) int {
	nodes := 1
	for _, child := range n.Content {
		nodes += nodesOf(child)
	}
	return nodes
}
