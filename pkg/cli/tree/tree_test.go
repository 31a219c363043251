package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// add adds a namespace that is a sub-namespace if its name begins with "s-".
func add(t *Tree, name, parent string, conditions ...metav1.Condition) {
	t.AddNamespace(name, strings.HasPrefix(name, "s-"), strings.HasSuffix(name, "-deleting"))
	t.AddHierarchy(name, parent, conditions)
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func text(t *testing.T, tr *Tree, roots ...string) string {
	t.Helper()
	var s strings.Builder
	if err := tr.Write(&s, roots, Paint{}); err != nil {
		t.Fatal(err)
	}
	return s.String()
}

func TestTextIsThatOfHNC(t *testing.T) {
	halted := condition(hnc.ConditionActivitiesHalted, metav1.ConditionTrue, "ParentMissing", "no parent")
	bad := condition(hnc.ConditionBadConfiguration, metav1.ConditionTrue, "IllegalManagedLabel", "no label")
	unready := condition(hnc.ConditionReady, metav1.ConditionFalse, "ParentMissing", "no parent")
	tr := New()
	add(tr, "acme-org", "")
	add(tr, "s-team-a", "acme-org", halted, unready)
	add(tr, "service-1", "s-team-a", halted, bad)
	add(tr, "team-b", "acme-org", condition(hnc.ConditionReady, metav1.ConditionTrue, "Ready", ""))
	tr.Link()
	want := `acme-org
├── [s] s-team-a (1)
│   └── service-1 (1,2)
└── team-b

[s] indicates subnamespaces

Conditions:
1) ActivitiesHalted (ParentMissing): no parent
2) BadConfiguration (IllegalManagedLabel): no label
`
	if got := text(t, tr, "acme-org"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAbstractAncestorsAreShownAsSuch(t *testing.T) {
	tr := New()
	add(tr, "search", "")
	add(tr, "shop", "")
	add(tr, "s-shop-dev", "shop")
	add(tr, "ledger", "")
	add(tr, "plain", "")
	tr.AddAbstractAncestors("search", []string{"eng", "top"})
	tr.AddAbstractAncestors("shop", []string{"eng", "top"})
	tr.AddAbstractAncestors("ledger", []string{"top"})
	tr.Link()
	want := `plain
[a] top
├── ledger
└── [a] eng
    ├── search
    └── shop
        └── [s] s-shop-dev

[s] indicates subnamespaces
[a] indicates abstract namespaces, which are not namespaces of the cluster
`
	if got := text(t, tr, "plain", "ledger", "search", "shop"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = `[a] top
└── ledger

[a] indicates abstract namespaces, which are not namespaces of the cluster
`
	if got := text(t, tr, "ledger"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A namespace further down is shown without what is above it.
	if got := text(t, tr, "s-shop-dev"); got != "s-shop-dev\n" {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsBeingDeletedIsShownAsSuch(t *testing.T) {
	tr := New()
	add(tr, "a-deleting", "")
	add(tr, "s-b-deleting", "a-deleting", condition(hnc.ConditionActivitiesHalted, metav1.ConditionTrue, "ParentMissing", "no parent"))
	add(tr, "full", "a-deleting")
	tr.Link()
	want := `a-deleting (deleting)
├── full
└── [s] s-b-deleting (deleting) (1)

[s] indicates subnamespaces

Conditions:
1) ActivitiesHalted (ParentMissing): no parent
`
	if got := text(t, tr, "a-deleting"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTrailersAppearOnlyWhenNeeded(t *testing.T) {
	tr := New()
	add(tr, "s-a", "gone")
	add(tr, "b", "s-a")
	tr.Link()
	if got, want := text(t, tr, "s-a"), "s-a\n└── b\n"; got != want {
		t.Errorf("got %q, want %q: the root of what is printed gets no mark", got, want)
	}
}

func TestNamespaceThatIsNotReadyForAnotherReasonSaysSo(t *testing.T) {
	tr := New()
	add(tr, "a", "", condition(hnc.ConditionReady, metav1.ConditionFalse, "NamespaceExcluded", "excluded"))
	tr.Link()
	if got, want := text(t, tr, "a"), "a (1)\n\nConditions:\n1) Ready (NamespaceExcluded): excluded\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCyclesEnd(t *testing.T) {
	tr := New()
	add(tr, "b", "c")
	add(tr, "c", "b")
	add(tr, "below", "c")
	add(tr, "self", "self")
	add(tr, "orphan", "gone")
	add(tr, "root", "")
	tr.Link()
	roots := tr.Roots()
	if want := []string{"b", "orphan", "root", "self"}; !slices.Equal(roots, want) {
		t.Errorf("got the roots %v, want %v", roots, want)
	}
	want := "b\n└── c\n    ├── b\n    └── below\norphan\nroot\nself\n└── self\n"
	if got := text(t, tr, roots...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := len(tr.List(roots).Items); got != 6 {
		t.Errorf("got %d namespaces in a list, want 6", got)
	}
}

func TestTwoThousandLevels(t *testing.T) {
	const levels = 2000
	tr := New()
	parent := ""
	for i := range levels {
		name := fmt.Sprintf("n%04d", i)
		add(tr, name, parent)
		parent = name
	}
	tr.Link()
	if roots := tr.Roots(); !slices.Equal(roots, []string{"n0000"}) {
		t.Fatalf("got the roots %v", roots)
	}
	lines := strings.Split(text(t, tr, "n0000"), "\n")
	if len(lines) != levels+1 || lines[levels-1] != strings.Repeat("    ", levels-2)+"└── n1999" {
		t.Errorf("got %d lines", len(lines))
	}
	if items := tr.List([]string{"n0000"}).Items; len(items) != levels || items[levels-1].Depth != levels-1 {
		t.Errorf("got %d namespaces", len(items))
	}
}

func TestObjectsAreListedWithTheirSources(t *testing.T) {
	tr := New()
	add(tr, "a", "")
	add(tr, "b", "a")
	tr.AddObject("a", "x", "")
	tr.AddObject("b", "y", "")
	tr.AddObject("b", "x", "a")
	tr.Link()
	if got, want := text(t, tr, "a"), "a  x\n└── b  x (from a), y\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Names of Roles can have any length.
func TestLongNamesOfObjectsAreShortened(t *testing.T) {
	tr, long := New(), strings.Repeat("x", 700_000)
	add(tr, "a", "")
	tr.AddObject("a", long, "")
	tr.Link()
	if got, want := text(t, tr, "a"), "a  "+names.Shorten(long)+"\n"; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestWhatDoesNotExistIsNotShown(t *testing.T) {
	tr := New()
	tr.AddHierarchy("ghost", "a", nil)
	add(tr, "a", "")
	tr.Link()
	if got := text(t, tr, "a", "ghost"); got != "a\n" {
		t.Errorf("got %q", got)
	}
}

func TestForeignTextIsEscaped(t *testing.T) {
	tr := New()
	add(tr, "a", "", condition(hnc.ConditionBadConfiguration, metav1.ConditionTrue, "Bad", "no\n2) forged\u202e"))
	tr.AddObject("a", "x\n└── forged\x1b[2J", "b\u200b")
	tr.Link()
	want := `a (1)  x\n└── forged\x1b[2J (from b\u200b)

Conditions:
1) BadConfiguration (Bad): no\n2) forged\u202e
`
	if got := text(t, tr, "a"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
