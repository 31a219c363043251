package forest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// grow returns a forest of existing namespaces, from child to parent.
func grow(parents map[string]string, missing ...string) *Forest {
	f := New(func(name string) bool { return name == "excluded" })
	for child, parent := range parents {
		f.SetExists(child, true)
		if parent != "" {
			f.SetExists(parent, true)
		}
		f.SetParent(child, parent)
	}
	for _, name := range missing {
		f.SetExists(name, false)
	}
	return f
}

func TestForestQueries(t *testing.T) {
	f := grow(map[string]string{"b": "a", "c": "b", "d": "b", "e": "a", "z": ""})
	for _, check := range []struct {
		what      string
		got, want any
	}{
		{"chain", f.Chain("c"), []string{"c", "b", "a"}},
		{"chain of a root", f.Chain("a"), []string{"a"}},
		{"children", f.Children("b"), []string{"c", "d"}},
		{"descendants, parents first", f.Descendants("a"), []string{"b", "e", "c", "d"}},
		{"names", f.Names(), []string{"a", "b", "c", "d", "e", "z"}},
	} {
		if fmt.Sprint(check.got) != fmt.Sprint(check.want) {
			t.Errorf("%s: got %v, want %v", check.what, check.got, check.want)
		}
	}
}

func TestUnusedNamespacesAreRemoved(t *testing.T) {
	f := New(nil)
	f.SetParent("child", "parent")
	if len(f.Names()) != 2 {
		t.Errorf("got %v, want child and parent", f.Names())
	}
	f.SetParent("child", "")
	if len(f.Names()) != 0 {
		t.Errorf("got %v, want nothing", f.Names())
	}
	f.SetExists("child", true)
	f.SetExists("child", false)
	if len(f.Names()) != 0 {
		t.Errorf("got %v, want nothing", f.Names())
	}
}

func TestCyclesAreDetected(t *testing.T) {
	f := grow(map[string]string{"c": "b", "b": "a", "a": "c", "below": "a"})
	for _, member := range []string{"a", "b", "c"} {
		if got := f.Cycle(member); !slices.Equal(got, []string{"a", "c", "b"}) {
			t.Errorf("%s: got %v", member, got)
		}
	}
	if f.Cycle("below") != nil {
		t.Error("a namespace below a cycle is not a member of it")
	}
	if got := f.Descendants("a"); !slices.Equal(got, []string{"b", "below", "c"}) {
		t.Errorf("got %v", got)
	}
	if at, cause := f.HaltedAt("below"); at != "a" || cause != InCycle {
		t.Errorf("got %s at %s", cause, at)
	}
}

func TestImportedChainMayBeLong(t *testing.T) {
	f := New(nil)
	for i := range 2000 {
		f.SetParent(fmt.Sprint(i+1), fmt.Sprint(i))
	}
	if got := len(f.Chain("2000")); got != 2001 {
		t.Errorf("got a chain of %d", got)
	}
	f.SetParent("0", "2000")
	if got := len(f.Cycle("7")); got != 2001 {
		t.Errorf("got a cycle of %d", got)
	}
}

func TestHaltedAtNearestCause(t *testing.T) {
	f := grow(map[string]string{"b": "a", "c": "b", "x": "excluded"}, "a")
	for name, want := range map[string]struct {
		at    string
		cause Cause
	}{
		"a": {"", notHalted},
		"b": {"b", ParentMissing},
		"c": {"b", ParentMissing},
		"x": {"x", IllegalParent},
	} {
		if at, cause := f.HaltedAt(name); at != want.at || cause != want.cause {
			t.Errorf("%s: got %q at %q, want %q at %q", name, cause, at, want.cause, want.at)
		}
	}
}

// No sequence of moves that CheckMove accepts makes a cycle, or a chain that is too long.
func TestCheckedMovesKeepTheForestAcyclic(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	f := New(nil)
	refused := 0
	for range 20_000 {
		name, parent := fmt.Sprint(random.IntN(90)), fmt.Sprint(random.IntN(90))
		if CheckMove(name, f.Height(name), f.Chain(parent)) != nil {
			refused++
			continue
		}
		f.SetParent(name, parent)
		if cycle := f.Cycle(name); cycle != nil {
			t.Fatalf("%s below %s made the cycle %v", name, parent, cycle)
		}
		if levels := len(f.Chain(name)) + f.Height(name); levels > maxDepth {
			t.Fatalf("%s below %s made a chain of %d", name, parent, levels)
		}
	}
	if refused == 0 {
		t.Error("nothing was rejected, so the test proves nothing")
	}
}

func TestCheckMoveReasons(t *testing.T) {
	long := make([]string, maxDepth)
	for i := range long {
		long[i] = fmt.Sprint("n", i)
	}
	for _, row := range []struct {
		name   string
		height int
		chain  []string
		want   moveReason
	}{
		{"a", 0, nil, ""},
		{"a", maxDepth, nil, ""},
		{"a", 0, []string{"b"}, ""},
		{"a", 0, []string{"a"}, selfParent},
		{"a", 0, []string{"c", "b", "a", "root"}, descendantParent},
		{"a", 0, long, tooDeep},
		{"a", 0, long[1:], ""},
		{"a", 1, long[1:], tooDeep},
		{"a", 1, long[2:], ""},
	} {
		var got moveReason
		var err *MoveError
		if errors.As(CheckMove(row.name, row.height, row.chain), &err) {
			got = err.reason
			if err.Error() == "" {
				t.Errorf("%s: no message", got)
			}
		}
		if got != row.want {
			t.Errorf("%s below %v: got %q, want %q", row.name, row.chain, got, row.want)
		}
	}
}
