package forest

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// parentsOf returns the parents of a forest given as child, parent pairs.
func parentsOf(pairs ...string) func(string) string {
	parents := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		parents[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return parents[name] }
}

func TestOrder(t *testing.T) {
	for name, row := range map[string]struct {
		placements []Placement
		now        func(string) string
		want       []int
	}{
		"parents first":                    {[]Placement{{"c", "b"}, {"b", "a"}, {"a", "r"}}, parentsOf(), []int{2, 1, 0}},
		"the order is kept":                {[]Placement{{"c", "r"}, {"b", "r"}, {"a", "r"}}, parentsOf(), []int{0, 1, 2}},
		"below an ancestor that stays":     {[]Placement{{"c", "b"}, {"a", "r"}}, parentsOf("b", "a"), []int{1, 0}},
		"swapped":                          {[]Placement{{"a", "b"}, {"b", "r"}}, parentsOf("a", "r", "b", "a"), []int{1, 0}},
		"old children before their parent": {[]Placement{{"a", "q"}, {"b", "r"}}, parentsOf("a", "r", "b", "a"), []int{1, 0}},
		"both trees exchange children":     {[]Placement{{"n", "d"}, {"m", "c"}, {"c", "q"}, {"d", "r"}}, parentsOf("c", "r", "n", "c", "d", "q", "m", "d"), []int{2, 1, 3, 0}},
		"a cycle is kept":                  {[]Placement{{"a", "b"}, {"b", "a"}, {"c", "r"}}, parentsOf(), []int{2, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Order(row.placements, row.now); !slices.Equal(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

// From any forest to any other, no step has a cycle.
func TestNoStepOfAnOrderHasACycle(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(3, seed))
		const n = 12
		forest := func() []int {
			// Each namespace is below one that precedes it in a random order.
			parents, order := make([]int, n), random.Perm(n)
			for i, name := range order {
				parents[name] = -1
				if i > 0 && random.IntN(6) > 0 {
					parents[name] = order[random.IntN(i)]
				}
			}
			return parents
		}
		name := func(i int) string {
			if i < 0 {
				return ""
			}
			return strconv.Itoa(i)
		}
		from, to := forest(), forest()
		trees := New(nil)
		var placements []Placement
		for i := range n {
			trees.SetParent(name(i), name(from[i]))
			placements = append(placements, Placement{name(i), name(to[i])})
		}
		order := Order(placements, trees.Parent)
		for step, i := range order {
			trees.SetParent(placements[i].Name, placements[i].Parent)
			for j := range n {
				if cycle := trees.Cycle(name(j)); cycle != nil {
					t.Fatalf("seed %d: step %d of %v has the cycle %v", seed, step, order, cycle)
				}
			}
		}
		if len(order) != n {
			t.Fatalf("seed %d: %d of %d placements", seed, len(order), n)
		}
	}
}
