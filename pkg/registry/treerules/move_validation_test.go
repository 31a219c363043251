package treerules

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// change changes a namespace in the cluster, and in the cache if cached is set.
func (f *fixture) change(t *testing.T, name string, labels, annotations map[string]string, cached bool) {
	t.Helper()
	changed := f.existing(t, name).DeepCopy()
	changed.Labels, changed.Annotations = labels, annotations
	if err := f.client.Tracker().Update(namespaces, changed, ""); err != nil {
		t.Fatal(err)
	}
	if cached {
		if err := f.indexer.Update(changed); err != nil {
			t.Fatal(err)
		}
	}
}

func excluding(t *testing.T, f *fixture) {
	t.Helper()
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{
		ExcludedNamespaces: []string{"vault"}, IncludedNamespaceRegex: "[^l].*",
		ExcludedNamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"hierarchy": "off"}},
	}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	f.config().Rules = func() managedkeys.Rules { return rules }
}

var off = map[string]string{"hierarchy": "off"}

func TestExcludedAndExternalNamespaces(t *testing.T) {
	const move, edit, claim = "move", "edit", "claim"
	for _, row := range []struct {
		name, act, namespace, parent string
		says                         string // "" if it is allowed
	}{
		{"H1 by name", move, "vault", "", `"vault" is excluded from hierarchies by the administrator`},
		{"H1 by the pattern", move, "legacy", "a", `"legacy" is excluded from hierarchies: its name does not match`},
		{"H1 by labels", move, "off", "", `"off" is excluded from hierarchies by its labels`},
		{"H1 an unchanged parent", edit, "off", "", `"off" is excluded`},
		{"H1 none of these", move, "a", "", ""},
		{"H2 by name", move, "a", "vault", `spec.parent: namespace "vault" is excluded`},
		{"H2 by the pattern", move, "a", "legacy", `spec.parent: namespace "legacy" is excluded`},
		{"H2 by the pattern, one that does not exist", move, "a", "lost", `spec.parent: namespace "lost" is excluded`},
		{"H2 by labels", move, "a", "off", `spec.parent: namespace "off" is excluded`},
		{"H2 an unchanged parent", edit, "below-off", "off", `spec.parent: namespace "off" is excluded`},
		{"H6 a new parent", move, "external", "a", `spec.parent: namespace "external" is managed by "other"`},
		{"H6 an unchanged parent", edit, "child", "a", `namespace "child" is managed by "other"`},
		{"H6 a root", move, "external", "", ""},
		{"H6 it becomes a root", move, "child", "", ""},
		{"H6 it may be a parent", move, "a", "external", ""},
		{"A3 by name", claim, "new", "vault", `"vault" is excluded`},
		{"A3 by the pattern", claim, "new", "legacy", `"legacy" is excluded`},
		{"A3 by labels", claim, "new", "off", `"off" is excluded`},
		{"A4 by name", claim, "vault", "a", `metadata.name: namespace "vault" is excluded`},
		{"A4 by the pattern", claim, "lost", "a", `metadata.name: namespace "lost" is excluded`},
		{"A4 by labels", claim, "off", "a", `metadata.name: namespace "off" is excluded`},
		{"A4 none of these", claim, "new", "a", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, map[string]string{"a": "", "vault": "", "legacy": "", "off": "", "below-off": "off", "external": "", "child": "a"})
			excluding(t, f)
			f.change(t, "off", off, nil, true)
			f.change(t, "external", nil, map[string]string{hnc.AnnotationManagedBy: "other"}, true)
			f.change(t, "child", nil, map[string]string{hnc.AnnotationManagedBy: "other"}, true)
			ctx := as(t, hnc.PropagatorUser)
			var err error
			switch row.act {
			case move:
				_, err = f.Moves.Validate(ctx, f.existing(t, row.namespace), row.parent)
			case edit:
				err = f.Moves.ValidateUnchanged(ctx, f.existing(t, row.namespace), row.parent)
			case claim:
				_, err = f.Claims.Validate(ctx, row.namespace, f.existing(t, row.parent))
			}
			if row.says == "" && err != nil {
				t.Errorf("rejected: %v", err)
			}
			if row.says != "" && (!apierrors.IsForbidden(err) || !strings.Contains(fmt.Sprint(err), row.says)) {
				t.Errorf("got %v, want Forbidden that says %s", err, row.says)
			}
		})
	}
}

func TestStaleCacheExcludesNoParent(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": ""})
	excluding(t, f)
	f.change(t, "b", off, nil, true)
	f.change(t, "b", nil, nil, false) // included again, and the cache is stale
	if _, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "a"), "b"); err != nil {
		t.Errorf("2.1: a legal parent was rejected: %v", err)
	}
}

func TestOnlyThePropagatorMaySetKeysThatAreNotManaged(t *testing.T) {
	f := newFixture(t, nil)
	if f.Authorizer.ManagedKeys(as(t, hnc.PropagatorUser)) != nil {
		t.Error("C2: the propagator's keys are validated")
	}
	if m := f.Authorizer.ManagedKeys(as(t, "alice")); m == nil || m.Label("team") {
		t.Error("2.5.1: anybody's keys are managed")
	}
}

// The Hierarchy of a namespace that is being deleted is gone before the namespace, and with it the edge: the chain ends
// there, so nobody is asked for the permissions, names and quotas of the tree that the propagator still counts it to.
func TestNothingJoinsBelowANamespaceThatIsBeingDeleted(t *testing.T) {
	for name, cached := range map[string]bool{"known": true, "not in the cache yet": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, map[string]string{"root": "", "ending": "", "p": "ending", "below": "p", "x": "", "sub": ""})
			f.change(t, "sub", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "p"}, true)
			f.change(t, "ending", hnc.TreeLabels([]string{"ending", "root"}), nil, true)
			ending := f.existing(t, "ending").DeepCopy()
			ending.DeletionTimestamp = &metav1.Time{}
			if cached {
				if err := f.indexer.Update(ending); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.client.Tracker().Update(namespaces, ending, ""); err != nil {
				t.Fatal(err)
			}
			for _, admin := range []string{"root", "ending", "p", "below", "x", "sub"} {
				f.admin["user/"+admin] = true
			}
			for parent, want := range map[string]string{
				"ending": `namespace "ending" is being deleted`, "p": `the parent of namespace "p" is being deleted`, "below": `the parent of namespace "p" is being deleted`,
			} {
				_, err := f.Moves.Validate(as(t, "user"), f.existing(t, "x"), parent)
				if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
					t.Errorf("below %s: got %v", parent, err)
				}
			}
			_, err := f.Claims.Validate(as(t, "user"), "sub", f.existing(t, "p"))
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `the parent of namespace "p" is being deleted`) {
				t.Errorf("a Subnamespace got %v", err)
			}
			if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "below"), "x"); err != nil {
				t.Errorf("what is there does not leave: %v", err)
			}
			if _, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "x"), "p"); err != nil {
				t.Errorf("the propagator got %v", err)
			}
		})
	}
}
