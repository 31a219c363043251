package treetest

import (
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

var (
	seed  = flag.Uint64("seed", 0, "the seed of the random changes; 0 takes several")
	steps = flag.Int("steps", 2000, "how many random changes follow one another")
)

// A Result is something that is derived from a tree, and written somewhere.
type Result[K comparable] struct {
	// Keys are what there may be a result for.
	Keys func(*tree.Tree) []K
	// Of returns the result for a key, nil if nothing has to be written. JSON is compared.
	Of func(*tree.Tree, K) any
	// Affected reports whether a change is said to affect the result for a key.
	Affected func(*tree.Tree, tree.Affected, K) bool
	// Write makes the tree what it is after the result has been written. Nil writes nothing.
	Write func(*tree.Tree, K) tree.Affected
}

// Check changes trees at random, and fails unless each change affects all keys for which something else has to be
// written than before: what a change does not affect is not evaluated again.
func Check[K comparable](t *testing.T, r Result[K]) {
	t.Helper()
	seeds := []uint64{*seed}
	if *seed == 0 {
		seeds = []uint64{1, 2, 3}
	}
	for _, seed := range seeds {
		tr := tree.New(Rules())
		tr.InheritPodSecurity()
		random := NewRandom(tr, seed)
		due := map[K]string{}
		var history []string
		for step := range *steps {
			var affected tree.Affected
			var description string
			if keys := r.due(due); r.Write != nil && len(keys) > 0 && random.one(3) {
				key := keys[random.IntN(len(keys))]
				description = "the result of " + encode(key) + " is written"
				affected = r.Write(tr, key)
			} else {
				affected, description = random.Change()
			}
			history = append(history, description)
			now := map[K]string{}
			for _, key := range r.Keys(tr) {
				result := encode(r.Of(tr, key))
				if result == "null" {
					continue
				}
				now[key] = result
				if result != due[key] && !r.Affected(tr, affected, key) {
					for _, line := range history[max(0, len(history)-30):] {
						t.Log(line)
					}
					t.Fatalf("-seed=%d: step %d does not affect %v:\n%+v\nbefore: %s\nnow:    %s", seed, step, key, affected, due[key], result)
				}
			}
			due = now
		}
	}
}

// due returns the keys, in an order that depends on nothing else.
func (r Result[K]) due(results map[K]string) []K {
	return slices.SortedFunc(maps.Keys(results), func(a, b K) int {
		return slices.Compare([]byte(encode(a)), []byte(encode(b)))
	})
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
