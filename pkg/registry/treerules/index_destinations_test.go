package treerules

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

// destinationsIf returns the selected destinations with their ancestors, sorted.
func destinationsIf(destinations iter.Seq[copies.Destination], selected func(copies.Destination) bool) []string {
	var all []string
	for d := range destinations {
		if selected(d) {
			all = append(all, fmt.Sprint(d.Namespace, d.Ancestors))
		}
	}
	slices.Sort(all)
	return all
}

// A Subnamespace of the name "gone" would adopt the orphan.
func TestAnExcludedOrphanIsNoDestination(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "orphan": "gone", "off": "gone"})
	excluding(t, f)
	f.change(t, "off", map[string]string{"hierarchy": "off"}, nil, true)
	for name, want := range map[string]string{"orphan": "[orphan[root gone]]", "off": "[]"} {
		got := destinationsIf(f.Overwrites.movedDestinations(t.Context(), []Node{{Name: name, Namespace: f.existing(t, name)}}, []string{name}, []string{"gone", "root"}),
			func(copies.Destination) bool { return true })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", name, got, want)
		}
	}
}

// Namespaces are missing, external, excluded and re-created at random.
func TestDestinationsBelowANamespaceAreThoseOfAllThatHaveIt(t *testing.T) {
	compared := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, seed))
		parents := map[string]string{"n0": "", "gone": ""}
		names := []string{"n0", "gone"}
		for i := 1; i < 20; i++ {
			name := fmt.Sprint([]string{"n", "n", "n", "sub"}[random.IntN(4)], i)
			if i == 3 && random.IntN(2) == 0 {
				name = "kube-public" // it is excluded
			}
			parents[name] = names[random.IntN(len(names))]
			names = append(names, name)
		}
		if random.IntN(2) == 0 {
			parents["gone"] = "n0"
		}
		f := newFixture(t, parents)
		for _, name := range names {
			if name == "gone" {
				continue
			}
			namespace := f.existing(t, name).DeepCopy()
			switch random.IntN(25) {
			case 0:
				namespace.UID = "another"
			case 1:
				namespace.Annotations = map[string]string{hnc.AnnotationManagedBy: "somebody"}
			}
			if err := f.indexer.Update(namespace); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range names[2:] {
			want := destinationsIf(f.Index.destinations(), func(d copies.Destination) bool { return slices.Contains(d.Ancestors, name) })
			got := destinationsIf(f.Index.destinationsBelow(name), func(copies.Destination) bool { return true })
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, below %s of %v: %v, want %v", seed, name, parents, got, want)
			}
			compared += len(got)
		}
	}
	if compared < 500 {
		t.Errorf("only %d destinations were compared", compared)
	}
}
