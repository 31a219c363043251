package copies

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// governed returns a role x of a namespace with annotations: "allow", "ask", or KEY=VALUE.
func governed(t *testing.T, namespace string, annotations ...string) *Object {
	t.Helper()
	u := parse(t, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"x"}}`)
	u.SetNamespace(namespace)
	u.SetUID(types.UID(namespace + "/x"))
	u.SetResourceVersion(next())
	set := map[string]string{}
	for _, a := range annotations {
		switch a {
		case "allow":
			set[hnc.AnnotationAllowOverride] = "true"
		case "ask":
			set[hnc.AnnotationOverride] = "true"
		default:
			key, value, _ := strings.Cut(a, "=")
			set[key] = value
		}
	}
	u.SetAnnotations(set)
	o, err := NewObject(u, &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Each namespace is below the one before it. An object is written "namespace annotation…".
func TestOverrides(t *testing.T) {
	chain := []string{"root", "a", "b", "c"}
	for name, test := range map[string]struct {
		objects []string
		// want is what is decided in a, b and c.
		want string
	}{
		"allowed":                        {[]string{"root allow", "a ask"}, "- create<a create<a"},
		"not asked for":                  {[]string{"root allow", "a"}, "overwrite<root create<root create<root"},
		"not allowed":                    {[]string{"root", "a ask"}, "overwrite<root create<root create<root"},
		"allowed by itself only":         {[]string{"root", "a ask allow"}, "overwrite<root create<root create<root"},
		"further down":                   {[]string{"root allow", "b ask"}, "create<root - create<b"},
		"the nearest wins":               {[]string{"root allow", "a ask allow", "b ask"}, "- - create<b"},
		"of one that is not allowed":     {[]string{"root allow", "a ask", "b ask"}, "- overwrite<a create<a"},
		"of one that does not ask":       {[]string{"root allow", "a allow", "b ask"}, "overwrite<root - create<b"},
		"at the end":                     {[]string{"root allow", "c ask"}, "create<root create<root -"},
		"one that goes nowhere":          {[]string{"root allow", "a ask " + hnc.AnnotationNone + "=true"}, "- create<root create<root"},
		"of one that goes nowhere":       {[]string{"root allow " + hnc.AnnotationNone + "=true", "a ask"}, "- create<a create<a"},
		"any boolean":                    {[]string{"root " + hnc.AnnotationAllowOverride + "=T", "a " + hnc.AnnotationOverride + "=1"}, "- create<a create<a"},
		"false":                          {[]string{"root " + hnc.AnnotationAllowOverride + "=false", "a ask"}, "overwrite<root create<root create<root"},
		"allowed in a way that is none":  {[]string{"root " + hnc.AnnotationAllowOverride + "=yes", "a ask"}, "overwrite<root create<root create<root"},
		"asked for in a way that's none": {[]string{"root allow", "a " + hnc.AnnotationOverride + "=yes"}, "overwrite<root create<root create<root"},
	} {
		t.Run(name, func(t *testing.T) {
			index := NewIndex(Roles)
			for _, object := range test.objects {
				words := strings.Fields(object)
				index.Set(governed(t, words[0], words[1:]...))
			}
			var one, all []string
			for i, namespace := range chain {
				if i == 0 {
					continue
				}
				d := Destination{Namespace: namespace, Ancestors: chain[:i]}
				one = append(one, decided(index.Decide(d, "x")))
				removals, writes := index.DecideAll(d)
				var w *Write
				for _, found := range append(removals, writes...) {
					w = &found
				}
				all = append(all, decided(w))
			}
			if got := strings.Join(one, " "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if got := strings.Join(all, " "); got != test.want {
				t.Errorf("all at once: %q, want %q", got, test.want)
			}
		})
	}
}

func decided(w *Write) string {
	switch {
	case w == nil:
		return "-"
	case w.Source == nil:
		return string(w.Verb)
	case w.Overwrites():
		return "overwrite<" + w.Source.Namespace
	}
	return string(w.Verb) + "<" + w.Source.Namespace
}

func TestAnOverrideWithAFinalizerIsKeptAndGovernsNothing(t *testing.T) {
	index := NewIndex(Roles)
	index.Set(governed(t, "root", "allow"))
	u := parse(t, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"x","namespace":"a","uid":"u","resourceVersion":"1",
		"finalizers":["example.com/hold"],"annotations":{"hnc.x-k8s.io/override":"true"}}}`)
	o, err := NewObject(u, &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	index.Set(o)
	if w := index.Decide(Destination{Namespace: "a", Ancestors: []string{"root"}}, "x"); w != nil {
		t.Errorf("in a: %s", decided(w))
	}
	if got := decided(index.Decide(Destination{Namespace: "b", Ancestors: []string{"root", "a"}}, "x")); got != "create<root" {
		t.Errorf("below it: %s", got)
	}
}

func TestACopyShowsThatItMayBeOverridden(t *testing.T) {
	for name, test := range map[string]struct {
		annotation, want string
	}{
		"allowed":       {hnc.AnnotationAllowOverride + "=T", "true"},
		"not allowed":   {hnc.AnnotationAllowOverride + "=false", ""},
		"misread":       {hnc.AnnotationAllowOverride + "=yes", ""},
		"nothing said":  {"a=b", ""},
		"an override's": {hnc.AnnotationOverride + "=true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := governed(t, "root", test.annotation)
			u := parse(t, string(o.content.body("", "")))
			if got := u.GetAnnotations()[hnc.AnnotationAllowOverride]; got != test.want || u.GetAnnotations()[hnc.AnnotationOverride] != "" {
				t.Errorf("annotations %v", u.GetAnnotations())
			}
			// It means nothing on a copy.
			if c := stored(t, o, "a", nil); c.Overrides(o) || c.overrides.Allowed || c.Digest != o.Digest {
				t.Errorf("copy %+v", c)
			}
		})
	}
}

func TestAnAnnotationAboutOverridesThatCanNotBeRead(t *testing.T) {
	good, bad := governed(t, "root", "allow"), governed(t, "root", hnc.AnnotationAllowOverride+"=yes")
	if bad.Misread() == nil || bad.Unreadable() != nil || !bad.Fit() || good.Misread() != nil {
		t.Errorf("misread %v, unreadable %v, fit %v", bad.Misread(), bad.Unreadable(), bad.Fit())
	}
	if !bad.Notable(good) || bad.Notable(bad) || good.Notable(bad) {
		t.Error("it is not reported once")
	}
	if bad.SameCopies(good) {
		t.Error("what is below is not looked at again")
	}
}

// As the source of a copy, a tenant would decide about an object of a repository, and hns-sync could not apply it again.
func TestObjectsOfRepositoriesAreKept(t *testing.T) {
	for label, want := range map[string]Verb{hnc.LabelRepositorySync: Keep, "example.com/any": Update} {
		for _, index := range []*Index{NewIndex(Kind{Kind: "ConfigMap"}), NewIndex(Roles)} {
			for namespace, labels := range map[string]string{"root": "{}", "leaf": fmt.Sprintf(`{%q:"sync"}`, label)} {
				index.Set(object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":%q,"name":"a","resourceVersion":%q,"labels":%s}}`, namespace, next(), labels)))
			}
			d := Destination{Namespace: "leaf", Ancestors: []string{"root"}}
			if w := index.Decide(d, "a"); w == nil || w.Verb != want {
				t.Errorf("%s with the label %s: got %+v, want %s", index.Kind.Kind, label, w, want)
			}
		}
	}
}
