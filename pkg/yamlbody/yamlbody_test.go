package yamlbody

import (
	"strings"
	"testing"

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
		"JSON of many lists":      {strings.Repeat("[", MaxValues/8) + strings.Repeat("]", MaxValues/8), nil},
		"YAML of many values":     {"a: [0" + strings.Repeat(",0", MaxValues) + "]", apierrors.IsRequestEntityTooLargeError},
		"YAML of many lines":      {strings.Repeat("- 0\n", MaxValues), apierrors.IsRequestEntityTooLargeError},
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
