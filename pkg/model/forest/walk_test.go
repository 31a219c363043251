package forest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func walked(f *Forest, name string, leaveOut ...string) string {
	var seen []string
	f.Walk(name, func(at string, depth int) bool {
		seen = append(seen, at+strconv.Itoa(depth))
		return !slices.Contains(leaveOut, at)
	})
	return strings.Join(seen, " ")
}

func TestWalkIsDepthFirstAndSorted(t *testing.T) {
	f := New(nil)
	for _, edge := range [][2]string{{"b", "a"}, {"c", "a"}, {"d", "b"}, {"e", "b"}, {"f", "c"}, {"a", "root"}, {"x", "y"}, {"y", "x"}, {"z", "y"}} {
		f.SetParent(edge[0], edge[1])
	}
	for _, row := range []struct{ got, want string }{
		{walked(f, "a"), "a0 b1 d2 e2 c1 f2"},
		{walked(f, "f"), "f0"},
		{walked(f, "unknown"), "unknown0"},
		{walked(f, "a", "b"), "a0 b1 c1 f2"},
		{walked(f, "x"), "x0 y1 z2"}, // a cycle ends
	} {
		if row.got != row.want {
			t.Errorf("got %q, want %q", row.got, row.want)
		}
	}
}

func TestWalkOfLongChain(t *testing.T) {
	f := New(nil)
	for i := range 100_000 {
		f.SetParent(strconv.Itoa(i+1), strconv.Itoa(i))
	}
	last := 0
	f.Walk("0", func(_ string, depth int) bool { last = depth; return true })
	if last != 100_000 {
		t.Errorf("got a depth of %d", last)
	}
}
