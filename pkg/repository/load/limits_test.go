package load_test

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// TestErrorsAreCounted has a million documents that are not objects.
func TestErrorsAreCounted(t *testing.T) {
	_, errors := load.Load(file(strings.Repeat("a\n---\n", 1_000_000)), load.DefaultLimits)
	if len(errors) != 1001 || errors[1000].Code != report.LimitExceeded {
		t.Errorf("got %d errors", len(errors))
	}
	list := "kind: List\nitems: [" + strings.Repeat("a, ", 100_000) + "a]\n"
	if _, errors = load.Load(file(list), load.DefaultLimits); len(errors) != 1001 {
		t.Errorf("in a list: got %d errors", len(errors))
	}
}

func TestLimitsOfTheWholeRepository(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range 10 {
		fsys[fmt.Sprintf("cluster/%d.yaml", i)] = &fstest.MapFile{Data: []byte(strings.Replace(someMap, "name: a", fmt.Sprintf("name: a%d", i), 1))}
	}
	for name, change := range map[string]func(*load.Limits){
		"more than 9 files":     func(l *load.Limits) { l.Files = 9 },
		"larger than 500 bytes": func(l *load.Limits) { l.TotalBytes = 500 },
		"more than 49 values":   func(l *load.Limits) { l.TotalValues = 49 },
		"more than 9 objects":   func(l *load.Limits) { l.Objects = 9 },
	} {
		limits := load.DefaultLimits
		change(&limits)
		_, errors := load.Load(fsys, limits)
		if len(errors) != 1 || errors[0].Code != report.LimitExceeded || !strings.Contains(errors[0].Message, name) {
			t.Errorf("%s: got %v", name, errors)
		}
	}
	exact := load.DefaultLimits
	exact.Files, exact.TotalValues, exact.Objects = 10, 50, 10
	if objects, errors := load.Load(fsys, exact); len(errors) > 0 || len(objects) != 10 {
		t.Errorf("what the limits allow is refused: %v", errors)
	}
	// A link is followed whatever its name.
	fsys["cluster/link"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("none")}
	if _, errors := load.Load(fsys, exact); len(errors) != 1 || errors[0].Code != report.LimitExceeded {
		t.Errorf("a link does not count as a file: %v", errors)
	}
}

// Parsing values of two bytes takes hundreds of times as much.
func TestValuesAreCountedBeforeTheyAreParsed(t *testing.T) {
	many := "[" + strings.TrimSuffix(strings.Repeat("1,", 1_500_000), ",") + "]"
	for name, content := range map[string]string{"a.yaml": many, "b.yaml": "a: 1\n---\n" + strings.Repeat("- 1\n", 700_000), "c.json": many, "d.yaml": strings.Repeat("-\r", 1_500_000)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, errors := load.Load(fstest.MapFS{"cluster/" + name: {Data: []byte(content)}}, load.DefaultLimits)
		runtime.ReadMemStats(&after)
		if len(errors) != 1 || errors[0].Code != report.LimitExceeded || !strings.Contains(errors[0].Message, "each of which could begin a value; split it") {
			t.Errorf("%s: got %v", name, errors)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 32<<20 {
			t.Errorf("%s: %d MiB were allocated", name, allocated>>20)
		}
	}
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  numbers: |\n    " + strings.Repeat("1,", 500_000) + "\n"
	if objects, errors := load.Load(file(text), load.DefaultLimits); len(errors) > 0 || len(objects) != 1 {
		t.Errorf("a text of a megabyte: %v", errors)
	}
}
