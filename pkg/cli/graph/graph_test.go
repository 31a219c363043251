package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"slices"
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
	if err := Write(t.Context(), &b, tr, roots, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSVGHoldsEveryNamespaceAndLine(t *testing.T) {
	decoder := xml.NewDecoder(strings.NewReader(write(t, company(), "svg", "acme")))
	var titles, texts []string
	var in string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			switch in {
			case "title":
				titles = append(titles, string(token))
			case "text":
				texts = append(texts, string(token))
			}
		}
	}
	for _, want := range []string{"acme", "team-a", "team-b", "service-1", "acme->team-a", "acme->team-b", "team-a->service-1"} {
		if !slices.Contains(titles, want) {
			t.Errorf("%q is missing in %q", want, titles)
		}
	}
	for _, want := range []string{"acme", "● policy", "↓ policy (acme)", "● own", "▲ ParentMissing"} {
		if !slices.Contains(texts, want) {
			t.Errorf("the text %q is missing in %q", want, texts)
		}
	}
}

func TestPNGHasTheColorsOfTheTree(t *testing.T) {
	img, err := png.Decode(strings.NewReader(write(t, company(), "png", "acme")))
	if err != nil {
		t.Fatal(err)
	}
	colors := map[string]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)] = true
		}
	}
	// The fills of a full namespace, of a sub-namespace and of a halted one; a line, and one with copies.
	for _, want := range []string{"#eaf1fb", "#f7fafe", "#fdecea", "#8a94a3", "#2e8b57"} {
		if !colors[want] {
			t.Errorf("the color %s is missing", want)
		}
	}
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
	for _, format := range []string{"svg", "png"} {
		if write(t, company(), format, "acme") == "" {
			t.Errorf("-o %s draws nothing", format)
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

func TestTooManyNamespacesForAnImage(t *testing.T) {
	tr := tree.New()
	tr.AddNamespace("root", false, false)
	for i := range maxDrawn {
		name := fmt.Sprint("n", i)
		tr.AddNamespace(name, false, false)
		tr.AddHierarchy(name, "root", nil)
	}
	tr.Link()
	err := Write(t.Context(), io.Discard, tr, []string{"root"}, "svg")
	if err == nil || !strings.Contains(err.Error(), "too many for an image") {
		t.Errorf("got %v", err)
	}
	if err := Write(t.Context(), io.Discard, tr, []string{"root"}, "dot"); err != nil {
		t.Errorf("-o dot: %v", err)
	}
}
