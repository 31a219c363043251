package exceptions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// FuzzParse parses any annotations. Selectors must parse again, from their own text, to the same selectors, and the
// decisions must be those of a model.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a", "!a", "a,,b", "a in (b,c)", "a!=b", "true", "T", ",", "!", "a>1", "\x00", "a in ()", "(", ")", "a=", "a in (,b)", "env=dev,env=prod",
		"team, !west", "a notin (b), !c", "acme.tree.hnc.x-k8s.io/depth", strings.Repeat("a", 63),
	} {
		f.Add(seed, seed, seed, seed)
		f.Add(seed, "!west", "", "")
	}
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		for _, annotations := range []Annotations{{Select: a, TreeSelect: b, None: c, All: d}, {Select: a}, {TreeSelect: b}, {None: c}, {All: d}} {
			e, err := Parse(annotations)
			if want := validTree(annotations.TreeSelect) && validBool(annotations.None) && validBool(annotations.All); !want && err == nil {
				t.Fatalf("%+v is invalid, but parsed", annotations)
			} else if want && annotations.Select == "" && err != nil {
				t.Fatalf("%+v is valid: %v", annotations, err)
			}
			if err != nil {
				continue
			}
			for _, selector := range []labels.Selector{e.selectLabels, e.selectTree} {
				parsesAgain(t, selector)
			}
			selects(t, annotations, e)
		}
	})
}

// parsesAgain checks that the text of a selector is a selector with the same requirements.
func parsesAgain(t *testing.T, selector labels.Selector) {
	t.Helper()
	if selector == nil {
		return
	}
	again, err := parseSelect(selector.String())
	if err != nil {
		t.Fatalf("%q does not parse again: %v", selector, err)
	}
	if again.String() != selector.String() {
		t.Fatalf("%q is parsed as %q", selector, again)
	}
	for _, set := range []map[string]string{east, {"env": "dev", "a": "b"}, nil} {
		if again.Matches(labels.Set(set)) != selector.Matches(labels.Set(set)) {
			t.Fatalf("%q matches %v only once", selector, set)
		}
	}
}

// selects compares a decision about east with a model of it.
func selects(t *testing.T, a Annotations, e Exceptions) {
	t.Helper()
	none, _ := strconv.ParseBool(a.None)
	all, _ := strconv.ParseBool(a.All)
	for _, byDefault := range []bool{true, false} {
		want := byDefault || all || e.Selective()
		for _, item := range items(a.TreeSelect) {
			name, negated := strings.CutPrefix(item, "!")
			_, below := east[hnc.TreeLabel(name)]
			want = want && below != negated
		}
		want = want && (e.selectLabels == nil || e.selectLabels.Matches(labels.Set(east))) && !none
		if got := e.Selects(byDefault, east); got != want {
			t.Fatalf("%+v by default %t: got %t, want %t", a, byDefault, got, want)
		}
	}
}

func items(treeSelect string) []string {
	if treeSelect == "" {
		return nil
	}
	split := strings.Split(treeSelect, ",")
	for i := range split {
		split[i] = strings.TrimSpace(split[i])
	}
	return split
}

func validTree(value string) bool {
	positive := 0
	for _, item := range items(value) {
		name, negated := strings.CutPrefix(item, "!")
		if !negated {
			positive++
		}
		if len(validation.IsDNS1123Label(name)) > 0 {
			return false
		}
	}
	return positive <= 1 && len(items(value)) <= maxItems && utf8.RuneCountInString(value) <= maxCharacters
}

func validBool(value string) bool {
	_, err := strconv.ParseBool(value)
	return value == "" || err == nil
}

// FuzzSelect builds a selector of up to 8 requirements from bytes, and compares its decision with a model. Of several
// requirements key=value with one key, the last one counts.
func FuzzSelect(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5}, byte(1), byte(2))
	f.Add([]byte{6, 30, 6}, byte(5), byte(0))
	f.Add([]byte{255, 128, 7, 9}, byte(0), byte(77))
	f.Fuzz(func(t *testing.T, data []byte, a, b byte) {
		values := []string{"x", "y", "", "z"}
		namespace := map[string]string{}
		for i, key := range []string{"a", "b"} {
			if chosen := []byte{a, b}[i] % 5; chosen < 4 {
				namespace[key] = values[chosen]
			}
		}
		var parts []string
		equal, want := map[string]string{}, true
		for _, at := range data[:min(len(data), 8)] {
			key := []string{"a", "b", "c"}[at%3]
			one, two := values[at/3%4], values[at/12%4]
			value, has := namespace[key]
			switch operator := at / 48; operator {
			case 0:
				parts, want = append(parts, key), want && has
			case 1:
				parts, want = append(parts, "!"+key), want && !has
			case 2:
				parts = append(parts, key+"="+one)
				equal[key] = one
			case 3:
				parts = append(parts, fmt.Sprintf("%s in (%s,%s)", key, one, two))
				want = want && has && slices.Contains([]string{one, two}, value)
			default:
				parts = append(parts, fmt.Sprintf("%s notin (%s, %s)", key, one, two))
				want = want && (!has || !slices.Contains([]string{one, two}, value))
			}
		}
		for key, must := range equal {
			value, has := namespace[key]
			want = want && has && value == must
		}
		text := strings.Join(parts, ",")
		e, err := Parse(Annotations{Select: text})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Selects(true, namespace); got != want {
			t.Fatalf("%q, labels %v: got %t, want %t", text, namespace, got, want)
		}
		parsesAgain(t, e.selectLabels)
	})
}
