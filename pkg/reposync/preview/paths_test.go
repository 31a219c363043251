package preview

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestDifferences(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"none":           {"{a: {b: 1}, metadata: {generation: 1, resourceVersion: x, managedFields: [{}]}}", "{a: {b: 1}, metadata: {generation: 2}}", ""},
		"a value":        {"{a: {b: 1, c: 2}}", "{a: {b: 2, c: 2}}", "a.b"},
		"added, removed": {"{a: {b: 1}}", "{a: {c: 1}}", "a.b a.c"},
		"a list":         {"{a: [1, 2]}", "{a: [1]}", "a"},
		"a label":        {"{metadata: {labels: {x.io/a: b}}}", "{metadata: {labels: {x.io/a: c}}}", "metadata.labels[x.io/a]"},
		"another type":   {"{a: {b: 1}}", "{a: 1}", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			var objects [2]unstructured.Unstructured
			for i, text := range []string{c.before, c.after} {
				if err := yaml.Unmarshal([]byte(text), &objects[i].Object); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(differences(&objects[0], &objects[1]), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
