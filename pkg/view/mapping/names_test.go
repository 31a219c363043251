package mapping

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// relative returns the names of a view of acme with these members.
func relative(members ...string) *Names {
	return NewNames(Config{Root: "acme", Relative: true, Prefix: "acme-", External: []string{"kube-system"}, Member: set(members)})
}

// set returns the membership of namespaces, "NAME" or "NAME@SECOND" with the time of their creation.
func set(names []string) func(string) (time.Time, bool) {
	in := map[string]time.Time{}
	for _, name := range names {
		name, at, _ := strings.Cut(name, "@")
		second, _ := strconv.Atoi(at)
		in[name] = time.Unix(int64(second), 0)
	}
	return func(name string) (time.Time, bool) { created, ok := in[name]; return created, ok }
}

func TestNamesAreThoseOfTheDesign(t *testing.T) {
	for _, c := range []struct {
		members        []string
		realName, view string
		shown          bool
	}{
		{nil, "acme", "default", true},
		{[]string{"acme-prod"}, "acme-prod", "prod", true},
		{[]string{"service-1"}, "service-1", "service-1", true},
		{[]string{"acme-x", "x"}, "acme-x", "x", true},
		{[]string{"acme-x", "x"}, "x", "x.external", false},
		// Who was first keeps the name.
		{[]string{"x@1", "acme-x@2"}, "x", "x", true},
		{[]string{"x@1", "acme-x@2"}, "acme-x", "acme-x.external", false},
		{[]string{"x@2", "acme-x@1"}, "acme-x", "x", true},
		{[]string{"x@2", "acme-x@1"}, "x", "x.external", false},
		{[]string{"x@1", "acme-x@2", "acme-acme-x@3"}, "acme-acme-x", "acme-x", true},
		{[]string{"acme-default"}, "acme-default", "acme-default", true},
		{[]string{"acme-kube-system"}, "acme-kube-system", "acme-kube-system", true},
		{[]string{"acme-acme-default", "acme-default"}, "acme-acme-default", "acme-acme-default", true},
		{[]string{"default"}, "default", "default.external", false},
		{[]string{"acme-acme"}, "acme-acme", "acme", true},
		{nil, "argocd", "argocd.external", false},
		{nil, "default", "default.external", false},
		{nil, "acme-default", "acme-default", false},
		{nil, "kube-system", "kube-system", false},
		// Could be created in the view.
		{nil, "acme-later", "later", false},
		{[]string{"later"}, "acme-later", "acme-later.external", false},
		{[]string{"acme-a-b"}, "acme-a-b", "a-b", true},
		{nil, "", "", false},
		{nil, "*", "*", false},
		{nil, "odd.external", "odd.external.external", false},
		{nil, "acme-", "acme-", false},
	} {
		names := relative(c.members...)
		if got := names.Out(c.realName); got != c.view {
			t.Errorf("members %v: Out(%q) = %q, expected %q", c.members, c.realName, got, c.view)
		}
		if got := names.In(c.view); got != c.realName {
			t.Errorf("members %v: In(%q) = %q, expected %q", c.members, c.view, got, c.realName)
		}
		if _, shown := names.Shown(c.realName); shown != c.shown {
			t.Errorf("members %v: %q is shown: %v, expected %v", c.members, c.realName, shown, c.shown)
		}
		if realName, ok := names.Resolve(c.view); ok != c.shown || ok && realName != c.realName {
			t.Errorf("members %v: Resolve(%q) = %q, %v", c.members, c.view, realName, ok)
		}
	}
}

func TestRealNamesStay(t *testing.T) {
	names := NewNames(Config{Root: "acme", Prefix: "acme-", Member: set([]string{"acme-x", "x"})})
	for _, name := range []string{"acme", "acme-x", "x", "argocd", "default", "a.external"} {
		if names.Out(name) != name || names.In(name) != name {
			t.Errorf("%q is mapped", name)
		}
	}
	if _, ok := names.Resolve("argocd"); ok {
		t.Error("a namespace that is no member is shown")
	}
	if realName, ok := names.Resolve("x"); !ok || realName != "x" {
		t.Error("a member is not shown")
	}
}

func TestNamespacesAreCreatedUnderTheirRealNames(t *testing.T) {
	names := relative("acme-x", "x", "service-1")
	for _, c := range []struct {
		view, realName string
		is             func(error) bool
	}{
		{"dev", "acme-dev", nil},
		{"acme-default", "acme-default", nil},
		{"x", "", apierrors.IsAlreadyExists},
		{"service-1", "", apierrors.IsAlreadyExists},
		{"default", "", apierrors.IsAlreadyExists},
		{"kube-system", "", apierrors.IsAlreadyExists},
		{"Dev", "", apierrors.IsInvalid},
		{"a.external", "", apierrors.IsInvalid},
		{strings.Repeat("a", 58), "acme-" + strings.Repeat("a", 58), nil},
		{strings.Repeat("a", 59), "", apierrors.IsInvalid},
	} {
		realName, err := names.Create(c.view)
		if realName != c.realName || (c.is == nil) != (err == nil) || err != nil && !c.is(err) {
			t.Errorf("Create(%q) = %q, %v", c.view, realName, err)
		}
	}
}

// checkNames checks what holds for all names: what is shown can be written back, and no two have the same name.
func checkNames(t *testing.T, names *Names, candidates []string) {
	t.Helper()
	seen := map[string]string{}
	for _, realName := range candidates {
		view := names.Out(realName)
		if got := names.In(view); got != realName {
			t.Errorf("%+v: %q is shown as %q, which means %q", names, realName, view, got)
		}
		if other, ok := seen[view]; ok && other != realName {
			t.Errorf("%+v: %q and %q are both shown as %q", names, realName, other, view)
		}
		seen[view] = realName
		if shown, ok := names.Shown(realName); ok {
			if got, ok := names.Resolve(shown); !ok || got != realName {
				t.Errorf("%+v: %q is shown as %q, which is not found", names, realName, shown)
			}
		}
		checkMeaning(t, names, realName)
		if created, err := names.Create(realName); err == nil && names.relative {
			// What is created is shown under the name that was asked for, and hides nothing.
			with := names.with(created)
			if shown, ok := with.Shown(created); !ok || shown != realName {
				t.Errorf("%+v: %q is created as %q and shown as %q", names, realName, created, shown)
			}
			for _, other := range candidates {
				if _, ok := names.Shown(other); ok && with.Shadowed(other) {
					t.Errorf("%+v: creating %q hides %q", names, realName, other)
				}
			}
		}
	}
}

// checkMeaning checks that a name without the suffix means a foreign namespace only if that is external, and that no
// other one of these names means the same namespace.
func checkMeaning(t *testing.T, names *Names, view string) {
	t.Helper()
	realName := names.In(view)
	if strings.HasSuffix(view, ExternalSuffix) || !isLabel(realName) || names.prefix == "" {
		return
	}
	if !names.Member(realName) && !names.external[realName] && !strings.HasPrefix(realName, names.prefix) {
		t.Errorf("%+v: %q means the foreign namespace %q", names, view, realName)
	}
	for _, other := range []string{hnc.ViewRootName, realName, strings.TrimPrefix(realName, names.prefix), strings.TrimPrefix(view, names.prefix), names.prefix + view} {
		if other != view && names.In(other) == realName {
			t.Errorf("%+v: %q and %q both mean %q", names, view, other, realName)
		}
	}
}

// What cannot be a namespace of the view is no foreign one, and no part of a path that means something else.
func TestNamesThatCannotBeUsedMeanNoNamespace(t *testing.T) {
	root := strings.Repeat("r", 48)
	long := NewNames(Config{Root: root, Relative: true, Prefix: root + "-", Member: set(nil)})
	prefixed := NewNames(Config{Root: "acme-x", Relative: true, Prefix: "acme-", External: []string{"default"}, Member: set(nil)})
	ofDefault := NewNames(Config{Root: "acme-default", Relative: true, Prefix: "acme-", Member: set(nil)})
	for _, c := range []struct {
		names          *Names
		view, realName string
	}{
		{long, "monitoring-sys", root + "-monitoring-sys"},
		{long, "monitoring-system", root + "-monitoring-system"}, // more than 63 characters
		{prefixed, "x", "x.external"},
		{prefixed, "default", "acme-x"},
		{prefixed, "default.external", "default"},
		{ofDefault, "acme-default", "acme-default.external"},
		{prefixed, "...external", "...external"},
		{prefixed, "..external", "..external"},
		{prefixed, ".external", ".external"},
		{prefixed, "A.external", "A.external"},
		{prefixed, "a/b.external", "a/b.external"},
		{prefixed, "a.external.external", "a.external"},
	} {
		if got := c.names.In(c.view); got != c.realName {
			t.Errorf("%q means %q, expected %q", c.view, got, c.realName)
		}
		if back := c.names.In(c.names.Out(c.realName)); back != c.realName {
			t.Errorf("%q is written back as %q", c.realName, back)
		}
	}
	if shown := prefixed.Out("default"); shown != "default.external" {
		t.Errorf("the namespace default of the cluster is shown as %q", shown)
	}
	if realName, err := prefixed.Create("x"); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the root is created again as %q, %v", realName, err)
	}
}

func TestNamesAreInjective(t *testing.T) {
	parts := []string{"acme-", "acme", "a", "x", "default", "kube-system", "-", ".external", "prod", "ac"}
	random := rand.New(rand.NewPCG(1, 2))
	name := func() string {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		return b.String()
	}
	for range 1000 {
		var members, candidates []string
		for range 12 {
			realName := name()
			candidates = append(candidates, realName)
			if isLabel(realName) && random.IntN(2) == 0 {
				members = append(members, realName+"@"+strconv.Itoa(random.IntN(3)))
			}
		}
		root := []string{"acme", "acme", "default", "acme-x", "acme-default", "x", "kube-system"}[random.IntN(7)]
		prefix := []string{"acme-", "acme-", root + "-", "", "a", strings.Repeat("a", 60)}[random.IntN(6)]
		names := NewNames(Config{Root: root, Relative: true, Prefix: prefix, External: []string{"kube-system", "prod", "default"}, Member: set(members)})
		checkNames(t, names, candidates)
		if t.Failed() {
			t.Fatalf("root %q, prefix %q, members %q", root, prefix, members)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("acme", "acme-", "x,acme-x,acme-acme-x", "acme-x")
	f.Add("a", "", "default,kube-system", "default.external")
	f.Add("acme", "acme-a-very-long-name-of-a-tenant-that-leaves-little-", "", "monitoring-system")
	f.Add("acme-x", "acme-", "", "x")
	f.Fuzz(func(t *testing.T, root, prefix, members, candidate string) {
		var valid []string
		for _, member := range strings.Split(members, ",") {
			if isLabel(member) {
				valid = append(valid, member)
			}
		}
		if !isLabel(root) {
			return
		}
		if prefix != "" && !isLabel(prefix+"x") {
			return
		}
		names := NewNames(Config{Root: root, Relative: true, Prefix: prefix, External: []string{"kube-system", "default"}, Member: set(valid)})
		checkNames(t, names, append(valid, candidate, prefix+candidate, candidate+ExternalSuffix))
	})
}

// A namespace of which nothing is known yet has the name of nobody who is there.
func TestTheLatestNamespaceIsShadowed(t *testing.T) {
	if names := relative("x@5").with("acme-x"); !names.Shadowed("acme-x") || names.Shadowed("x") {
		t.Error("a namespace that is not known yet hides another one")
	}
	if rival, ok := relative().Rival("acme-x"); rival != "x" || !ok {
		t.Errorf("the rival of acme-x: %q, %t", rival, ok)
	}
	if rival, ok := relative().Rival("x"); rival != "acme-x" || !ok {
		t.Errorf("the rival of x: %q, %t", rival, ok)
	}
	for _, name := range []string{"acme", "acme-default", "kube-system", "acme-acme", strings.Repeat("x", 60)} {
		if rival, ok := relative().Rival(name); ok {
			t.Errorf("the rival of %s: %q", name, rival)
		}
	}
}
