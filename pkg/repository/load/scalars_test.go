package load_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
)

// TestScalarsAreThoseOfKubectl compares the values of scalars with what kubectl's parser makes of them.
func TestScalarsAreThoseOfKubectl(t *testing.T) {
	for _, text := range []string{
		"y", "n", "yes", "No", "ON", "off", "'y'", "true", "False", "~", "null", "", "1", "+1", "-7", "010", "0o7", "0x1F", "0b1", "1_000", "08",
		"1.5", ".5", "1e3", "1e30", "9223372036854775808", "1:20", "2001-01-01", "=", "!!binary aGk=", "!!str 1", "\"1\"", "|\n  text\n",
	} {
		objects, errors := load.Load(file(someMap+"value: "+text+"\n"), load.DefaultLimits)
		if len(errors) > 0 {
			t.Errorf("%q: %v", text, errors)
			continue
		}
		data, err := yaml.YAMLToJSON([]byte(someMap + "value: " + text + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		var want unstructured.Unstructured
		if err := want.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Object["value"], objects[0].Object["value"]); diff != "" {
			t.Errorf("%q: (-kubectl +loader)\n%s", text, diff)
		}
	}
}

// TestMergedKeys do not replace those that are there, and the first of several sources counts.
func TestMergedKeys(t *testing.T) {
	objects, errors := load.Load(file(someMap+"a: &a {x: 1, w: 1, z: 1}\nb: &b {x: 2, w: 2}\nvalue: {x: 3, <<: [*b, *a]}\n"), load.DefaultLimits)
	if len(errors) > 0 {
		t.Fatal(errors)
	}
	if diff := cmp.Diff(map[string]any{"x": int64(3), "w": int64(2), "z": int64(1)}, objects[0].Object["value"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestDocumentsThatAreRefused has documents without, or with an ambiguous, equivalent in JSON.
func TestDocumentsThatAreRefused(t *testing.T) {
	for text, message := range map[string]string{
		"value: .nan\n":        "not a number that JSON can represent",
		"value: !Ref x\n":      "the tag !Ref is not supported",
		"value: !!int x\n":     "is not a valid int",
		"? [a]\n: b\n":         "a key must be a string",
		"<<: a\n":              "only mappings can be merged",
		"value: 1\nvalue: 2\n": "set twice",
		"value: *nothing\n":    "unknown anchor",
	} {
		_, errors := load.Load(file(someMap+text), load.DefaultLimits)
		if len(errors) != 1 || errors[0].Code != "KNV2001" || !strings.Contains(errors[0].Message, message) {
			t.Errorf("%q: want an error about %q, got %v", text, message, errors)
		}
	}
}
