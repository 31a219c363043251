package yamlbody

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// nested returns a value in so many objects.
func nested(levels int, value any) any {
	for range levels {
		value = map[string]any{"a": value}
	}
	return value
}

func TestMarshalIsBounded(t *testing.T) {
	list := func(n int) any {
		values := make([]any, n)
		for i := range values {
			values[i] = "x"
		}
		return values
	}
	for name, test := range map[string]struct {
		value any
		deep  bool
	}{
		"an object":                        {map[string]any{"a": "b", "c": []any{"d"}}, false},
		"a long list":                      {list(100_000), false},
		"a large text":                     {map[string]any{"data": map[string]any{"a": strings.Repeat("some words\n", 90_000)}}, false},
		"levels":                           {nested(2000, "x"), false},
		"many levels":                      {nested(9000, "x"), true},
		"a list in levels":                 {nested(1000, list(10_000)), true},
		"lines in levels":                  {nested(1000, strings.Repeat("x\n", 10_000)), true},
		"words in levels":                  {nested(1000, strings.Repeat("x ", 10_000)), true},
		"other breaks in levels":           {nested(1000, strings.Repeat("x\u2028", 10_000)), true},
		"words of other scripts in levels": {nested(1000, strings.Repeat("слово、例", 10_000)), false},
		"a long text in levels":            {nested(1000, strings.Repeat("x", 100_000)), false},
		"names in levels":                  {nested(1000, map[string]any{strings.Repeat("x ", 10_000): "x"}), true},
		"lists in lists of lists":          {[]any{[]any{nested(9000, list(1))}}, true},
	} {
		text, err := Marshal(test.value)
		if (err != nil) != test.deep || err != nil && !errors.Is(err, ErrTooDeep) {
			t.Errorf("%s: %v", name, err)
		}
		if len(text) > maxIndentation+2<<20 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
}

func TestJSONIsWrittenWithItsIntegers(t *testing.T) {
	text, err := FromJSON([]byte(`{"b":[9007199254740993,1e3,"1"],"a":-9007199254740993}`))
	if want := "a: -9007199254740993\nb:\n- 9007199254740993\n- 1000\n- \"1\"\n"; err != nil || string(text) != want {
		t.Errorf("got %q, %v; want %q", text, err, want)
	}
	if _, err := FromJSON([]byte(strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000))); !errors.Is(err, ErrTooDeep) {
		t.Errorf("many levels: got %v", err)
	}
}

// A limit for one object is none for a list of many.
func TestLongListsAreWritten(t *testing.T) {
	object := nested(3, strings.Repeat("some words\n", 90_000))
	objects := []any{object, object, object, object, object, object, object}
	text, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Marshal(objects); !errors.Is(err, ErrTooDeep) {
		t.Fatalf("the list is too short for this test: %v", err)
	}
	if _, err := FromJSON(text); err != nil {
		t.Error(err)
	}
	short := `[[[[[[[[[` + strings.Repeat("0,", 500_000) + `0]]]]]]]]]`
	if _, err := FromJSON([]byte(short)); err != nil {
		t.Errorf("short values in a few levels: %v", err)
	}
}
