package plan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const members = 8

func rounds() int { return suite.Size(2, 10) }

// check makes a change after it was planned, and compares.
func (w *world) check(t *testing.T, what string, scope []string, spec v1alpha3.HierarchyPlanSpec, change func() error) {
	t.Helper()
	before := w.converged(t)
	want := before
	access := map[string][]v1alpha3.PlannedAccess{}
	var refused bool
	var total v1alpha3.PlanSummary
	for _, name := range scope {
		status, err := ask(t, alice, name, spec, int32(1+w.IntN(5)))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		refused = refused || len(status.Refusals) > 0
		if len(status.Hidden) > 0 {
			t.Errorf("%s: hidden from alice: %v", what, status.Hidden)
		}
		want = want.after(t, status)
		for _, n := range status.Namespaces {
			access[n.Name] = n.Access
		}
		total.Added += status.Summary.Added
		total.Removed += status.Summary.Removed
		total.Overwritten += status.Summary.Overwritten
		total.Changed += status.Summary.Changed
		total.Kept += status.Summary.Kept
	}
	t.Logf("%s: refused %v, added %d, changed %d, overwritten %d, removed %d, kept %d", what, refused, total.Added, total.Changed, total.Overwritten, total.Removed, total.Kept)
	err := change()
	if refused {
		if err == nil {
			t.Errorf("%s: was to be refused, and was accepted", what)
		}
		want = before
	} else if err != nil {
		t.Fatalf("%s: was to be accepted: %v", what, err)
	}
	suite.EventuallyEqual(t, what, want.String(), func() string { return look(t, w.prefix).String() })
	// And nothing else comes.
	after := w.converged(t)
	if after.String() != want.String() {
		t.Errorf("%s: in the end there is\n%s\nwant\n%s", what, after, want)
	}
	if refused {
		return
	}
	w.all.Added += total.Added
	w.all.Changed += total.Changed
	w.all.Removed += total.Removed
	w.all.Overwritten += total.Overwritten
	w.all.Kept += total.Kept
	for _, name := range w.names {
		gained, lost := map[string]bool{}, map[string]bool{}
		for _, a := range access[name] {
			switch a.Change {
			case v1alpha3.AccessGained:
				gained[a.Name+" "+a.Role] = true
			case v1alpha3.AccessLost:
				lost[a.Name+" "+a.Role] = true
			}
		}
		if g, l := minus(after.access[name], before.access[name]), minus(before.access[name], after.access[name]); !maps.Equal(g, gained) || !maps.Equal(l, lost) {
			t.Errorf("%s: in %s is gained %v, lost %v; planned %v, %v", what, name, g, l, gained, lost)
		}
	}
}

func minus(a, b map[string]bool) map[string]bool {
	rest := map[string]bool{}
	for key := range a {
		if !b[key] {
			rest[key] = true
		}
	}
	return rest
}

func TestWhatIsPlannedHappens(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	configure(t, "configmaps Propagate Keep", "secrets AllowPropagate")
	var all v1alpha3.PlanSummary
	// Until each kind of write has been planned.
	complete := func() bool { return all.Added > 0 && all.Overwritten > 0 && all.Removed > 0 }
	for round := 0; round < rounds() || !complete() && round < 20; round++ {
		prefix := fmt.Sprintf("random%d-", round)
		w := newWorld(t, r, prefix)
		w.all = &all
		for range 4 {
			name := w.one(w.names...)
			parent := w.one(append(w.roots(), w.one(w.names...), "")...)
			if w.below(parent, name) {
				continue
			}
			what := fmt.Sprintf("round %d: %s from %q to %q", round, name, w.parents[name], parent)
			w.check(t, what, []string{name}, v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: parent}, func() error {
				err := move(t, alice, name, parent)
				if err == nil {
					w.parents[name] = parent
				}
				return err
			})
		}
		entries := [][]string{
			{"configmaps Propagate", "secrets AllowPropagate"}, // overwrites what was kept
			{"configmaps AllowPropagate", "secrets Propagate"},
			{"configmaps Remove", "secrets Propagate Keep"},
			{"secrets AllowPropagate"},
			{"configmaps Propagate Keep", "secrets AllowPropagate"},
		}
		for _, list := range entries {
			what := fmt.Sprintf("round %d: configuration %s", round, strings.Join(list, ", "))
			w.check(t, what, w.roots(), v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeConfiguration, Resources: resources(list...)}, func() error {
				return tryConfigure(t, list...)
			})
		}
		for _, name := range w.names {
			if err := alice.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		suite.EventuallyEqual(t, "the namespaces are gone", "", func() string {
			for _, name := range w.names {
				if _, err := admin.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					return name
				}
			}
			return ""
		})
	}
	t.Logf("in all: %+v", all)
	if !complete() {
		t.Error("something was never planned: it has not been tested")
	}
}
