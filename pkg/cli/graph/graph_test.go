package graph

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
)

// company is a tree with a sub-namespace, one that is halted, and copies.
func company() *tree.Tree {
	t := tree.New()
	halted := metav1.Condition{Type: hnc.ConditionActivitiesHalted, Status: metav1.ConditionTrue, Reason: "ParentMissing", Message: `no "parent" <b>\here`}
	t.AddNamespace("acme", false, false)
	t.AddNamespace("team-a", true, false)
	t.AddHierarchy("team-a", "acme", nil)
	t.AddNamespace("team-b", false, false)
	t.AddHierarchy("team-b", "acme", []metav1.Condition{halted})
	t.AddNamespace("service-1", false, false)
	t.AddHierarchy("service-1", "team-a", nil)
	t.AddObject("acme", "policy", "")
	t.AddObject("team-a", "policy", "acme")
	t.AddObject("service-1", "own", "")
	t.Link()
	return t
}

func write(t *testing.T, tr *tree.Tree, format string, roots ...string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tr, roots, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDotMarksSubnamespacesConditionsAndCopies(t *testing.T) {
	dot := write(t, company(), "dot", "acme")
	for _, want := range []string{
		`"acme" -> "team-a" [color="#2e8b57"`, `"acme" -> "team-b" [color="#8a94a3"`, `"team-a" -> "service-1" [color="#8a94a3"`,
		`"team-a" [label=`, `style="rounded,filled,dashed"`, `▲ ParentMissing`,
		`tooltip="ActivitiesHalted (ParentMissing): no \"parent\" <b>\\here"`,
		`label="dashed: sub-namespace   red: condition   green: copies flow"`,
	} {
		if !strings.Contains(dot, want) {
			t.Errorf("%s is missing in\n%s", want, dot)
		}
	}
}

func TestMermaid(t *testing.T) {
	want := `flowchart TD
  n0("acme<br/>● policy")
  n1("team-a<br/>↓ policy (acme)"):::sub
  n2("service-1<br/>● own")
  n3("team-b<br/>▲ ParentMissing"):::problem
  n0 ==> n1
  n1 --- n2
  n0 --- n3
`
	if got := write(t, company(), "mermaid", "acme"); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCyclesAreDrawn(t *testing.T) {
	tr := tree.New()
	for name, parent := range map[string]string{"a": "b", "b": "a"} {
		tr.AddNamespace(name, false, false)
		tr.AddHierarchy(name, parent, nil)
	}
	tr.Link()
	for _, format := range Formats {
		if write(t, tr, format, "a") == "" {
			t.Errorf("-o %s draws nothing", format)
		}
	}
	if dot := write(t, tr, "dot", "a"); strings.Count(dot, " -> ") != 2 {
		t.Errorf("a cycle of two has two lines:\n%s", dot)
	}
}

func TestManyObjectsAreCounted(t *testing.T) {
	tr := tree.New()
	tr.AddNamespace("a", false, false)
	for i := range 20 {
		tr.AddObject("a", fmt.Sprint("o", i), "")
	}
	tr.Link()
	if dot := write(t, tr, "dot", "a"); strings.Count(dot, "●") != maxObjects || !strings.Contains(dot, "and 12 more") {
		t.Errorf("got\n%s", dot)
	}
}

// Names of Roles can have any length.
func TestLongNamesOfObjectsAreShortened(t *testing.T) {
	tr := company()
	for _, from := range []string{"", "acme"} {
		tr.AddObject("team-b", strings.Repeat("x", 700_000), from)
	}
	for _, format := range Formats {
		if got := write(t, tr, format, "acme"); len(got) > 10_000 || strings.Count(got, "xxx…") != 2 {
			t.Errorf("%s: got %d bytes", format, len(got))
		}
	}
}

// TestForeignTextIsEscaped has names that end labels, that Mermaid renders, and that readers do not see.
func TestForeignTextIsEscaped(t *testing.T) {
	tr := tree.New()
	tr.AddNamespace("a", false, false)
	tr.AddObject("a", "x\")\n  n9(\"forged\u202e<img src=y>&#lt;`code`", "")
	tr.Link()
	want := "flowchart TD\n  n0(\"a<br/>● x#quot;)#92;n  n9(#quot;forged#92;u202e#lt;img src=y#gt;#amp;#35;lt;#96;code#96;\")\n"
	if got := write(t, tr, "mermaid", "a"); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = "● x&quot;)\\n  n9(&quot;forged\\u202e&lt;img src=y&gt;&amp;#lt;`code`</FONT>"
	if got := write(t, tr, "dot", "a"); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
