package copies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// roleAt returns the Role ops in a namespace: "" for a source, "<namespace" for a copy, otherwise a source with
// annotations key=value.
func roleAt(t *testing.T, namespace, how string) *Object {
	t.Helper()
	metadata := `"labels":{}`
	if from, ok := strings.CutPrefix(how, "<"); ok {
		metadata = fmt.Sprintf(`"labels":{%q:%q}`, hnc.LabelInheritedFrom, from)
	} else if how == "terminating" {
		metadata = `"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["example.com/held"]`
	} else if how != "" {
		var annotations []string
		for _, word := range strings.Fields(how) {
			key, value, _ := strings.Cut(word, "=")
			annotations = append(annotations, fmt.Sprintf("%q:%q", key, value))
		}
		metadata = fmt.Sprintf(`"annotations":{%s}`, strings.Join(annotations, ","))
	}
	return object(t, fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"namespace":%q,"name":"ops","uid":%q,"resourceVersion":%q,%s}}`,
		namespace, namespace, next(), metadata))
}

func bindingOf(t *testing.T, namespace, kind string) *Object {
	t.Helper()
	return object(t, fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"namespace":%q,"name":"b","uid":"b","resourceVersion":%q},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":%q,"name":"ops"}}`, namespace, next(), kind))
}

// The chain is root, mid, leaf; the binding is in mid unless the row says otherwise.
func TestARoleBindingIsCopiedOnlyWithTheRoleThatItRefersTo(t *testing.T) {
	const (
		none     = hnc.AnnotationNone + "=true"
		allow    = hnc.AnnotationAllowOverride + "=true"
		override = hnc.AnnotationOverride + "=true"
		toLeaf   = hnc.AnnotationSelect + "=env=leaf"
		toMid    = hnc.AnnotationSelect + "=env=mid"
	)
	for name, row := range map[string]struct {
		roles map[string]string
		want  bool
	}{
		"there is no Role":                                           {nil, false},
		"the Role is beside the binding":                             {map[string]string{"mid": ""}, true},
		"the Role stays, and nothing is there":                       {map[string]string{"mid": none}, false},
		"the Role stays, and another is there":                       {map[string]string{"mid": none, "leaf": ""}, false},
		"only the destination has one":                               {map[string]string{"leaf": ""}, false},
		"a local one will be overwritten":                            {map[string]string{"mid": "", "leaf": ""}, true},
		"a local one is held by a finalizer":                         {map[string]string{"mid": "", "leaf": "terminating"}, false},
		"both inherit it, and it is not beside the binding yet":      {map[string]string{"root": ""}, false},
		"both inherit it":                                            {map[string]string{"root": "", "mid": "<root"}, true},
		"both have copies":                                           {map[string]string{"root": "", "mid": "<root", "leaf": "<root"}, true},
		"the copy has no source any more":                            {map[string]string{"mid": "<root", "leaf": "<root"}, false},
		"another is copied to the destination only":                  {map[string]string{"root": toLeaf, "mid": ""}, false},
		"it is inherited, but not further":                           {map[string]string{"root": toMid}, false},
		"it is not inherited, but further down":                      {map[string]string{"root": toLeaf}, false},
		"the one beside the binding overrides":                       {map[string]string{"root": allow, "mid": override}, true},
		"the one in the destination overrides":                       {map[string]string{"root": allow, "leaf": override}, false},
		"the one in the destination overrides the binding's":         {map[string]string{"mid": allow, "leaf": override}, false},
		"the one in the destination overrides, which is not allowed": {map[string]string{"mid": "", "leaf": override}, true},
		"the Role has finalizers or another problem":                 {map[string]string{"mid": hnc.AnnotationTreeSelect + "=,"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			index := NewIndex(RoleBindings)
			index.Roles = NewIndex(Roles)
			for namespace, how := range row.roles {
				index.Roles.Set(roleAt(t, namespace, how))
			}
			binding, other := bindingOf(t, "mid", "Role"), bindingOf(t, "root", "ClusterRole")
			index.Set(binding)
			d := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}, Labels: func(namespace string) map[string]string { return map[string]string{"env": namespace} }}
			if got := index.Propagates(binding, d); got != row.want {
				t.Errorf("it is copied: %t, want %t", got, row.want)
			}
			if got := index.Decide(d, "b") != nil; got != row.want {
				t.Errorf("it is written: %t, want %t", got, row.want)
			}
			if got := index.Withheld(binding, d); got == row.want {
				t.Errorf("it is withheld: %t", got)
			}
			if !index.Propagates(other, d) || index.Withheld(other, d) {
				t.Error("one that refers to a ClusterRole is not copied")
			}
			index.Set(object(t, fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"namespace":"leaf","name":"b","uid":"c","resourceVersion":%q,
				"labels":{%q:"mid"}},"roleRef":{}}`, next(), hnc.LabelInheritedFrom)))
			if w := index.Decide(d, "b"); w == nil || (w.Verb == Delete) == row.want {
				t.Errorf("the copy: got %+v", w)
			}
		})
	}
}

// Thousands of bindings may refer to one Role, whose selectors are evaluated in each ancestor.
func TestARoleIsFoundOnceForAllBindings(t *testing.T) {
	index := NewIndex(RoleBindings)
	index.Roles = NewIndex(Roles)
	index.Roles.Set(roleAt(t, "mid", ""))
	binding := bindingOf(t, "mid", "Role")
	d := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}, Labels: func(string) map[string]string { return nil }}
	for _, d := range []Destination{d, d.Remember()} {
		if !index.Propagates(binding, d) {
			t.Error("it is not copied")
		}
		index.Roles.Delete("mid", "ops", "mid")
		if got, remembered := index.Propagates(binding, d), d.roles != nil; got != remembered {
			t.Errorf("it is copied: %t, although it is remembered: %t", got, remembered)
		}
		index.Roles.Set(roleAt(t, "mid", ""))
	}
}

// The policy for Roles may differ from that of RoleBindings: a copy of the Role that is left over is not enough.
func TestARoleBindingIsNotCopiedWhereRolesAreNot(t *testing.T) {
	for mode, want := range map[v1beta1.SynchronizationMode]bool{
		v1beta1.Propagate: true, v1beta1.Ignore: false, v1beta1.Remove: false, v1beta1.AllowPropagate: false,
	} {
		index := NewIndex(RoleBindings)
		index.Roles = NewIndex(Roles)
		index.Roles.Policy = modes.Policy{Mode: mode}
		index.Roles.Set(roleAt(t, "mid", ""))
		index.Roles.Set(roleAt(t, "leaf", "<mid"))
		d := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}, Labels: func(string) map[string]string { return nil }}
		if got := index.Propagates(bindingOf(t, "mid", "Role"), d); got != want {
			t.Errorf("Roles in mode %s: it is copied: %t, want %t", mode, got, want)
		}
	}
}

// Until then, a local Role may be in the place of the copy, for ever if the copy is rejected.
func TestACopyOfARoleBindingAwaitsTheCopyOfTheRole(t *testing.T) {
	for name, row := range map[string]struct {
		mid, leaf string
		want      bool
	}{
		"the Role and its copy are there":   {"source", "<mid", false},
		"the copy is not there":             {"source", "-", true},
		"a local one is in its place":       {"source", "source", true},
		"a copy from elsewhere":             {"source", "<root", true},
		"both have a copy":                  {"<root", "<root", false},
		"the binding's is not the copy yet": {"source", "<root", true},
		"the binding's is not there":        {"-", "<root", true},
	} {
		index := NewIndex(RoleBindings)
		index.Roles = NewIndex(Roles)
		for namespace, how := range map[string]string{"mid": row.mid, "leaf": row.leaf} {
			if how != "-" {
				index.Roles.Set(roleAt(t, namespace, strings.TrimPrefix(how, "source")))
			}
		}
		w := Write{Verb: Create, Kind: RoleBindings, Namespace: "leaf", Name: "b", Source: bindingOf(t, "mid", "Role")}
		if got := index.Awaits(w); got != row.want {
			t.Errorf("%s: awaits %t, want %t", name, got, row.want)
		}
		w.Source = bindingOf(t, "mid", "ClusterRole")
		if index.Awaits(w) || index.Awaits(Write{Verb: Delete, Kind: RoleBindings, Namespace: "leaf", Name: "b"}) {
			t.Errorf("%s: what refers to no Role awaits one", name)
		}
	}
}

func TestRolesThatRoleBindingsReferTo(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := rbacv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]string{"Role": "ops", "ClusterRole": ""} {
		binding := &rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "mid", Name: "b", ResourceVersion: "1"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: "ops"},
			Subjects: []rbacv1.Subject{{Kind: "User", Name: "eve"}},
		}
		var sent strings.Builder
		list := &rbacv1.RoleBindingList{TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBindingList"}, Items: []rbacv1.RoleBinding{*binding}}
		if err := protobuf.NewSerializer(scheme, scheme).Encode(list, &sent); err != nil {
			t.Fatal(err)
		}
		var inProtobuf *Object
		_, err := wire.NewFormats(scheme).ReadList(strings.NewReader(sent.String()), schema.GroupVersionKind{Group: rbacv1.GroupName, Version: "v1", Kind: "RoleBinding"},
			func(o *wire.Object) { inProtobuf = NewWireObject(o, RoleBindings, &Rules{}) })
		if err != nil {
			t.Fatal(err)
		}
		inherited := binding.DeepCopy()
		inherited.Labels = map[string]string{hnc.LabelInheritedFrom: "root"}
		for encoding, o := range map[string]*Object{"a copy": NewRoleBinding(inherited, &Rules{}), "protobuf": inProtobuf, "json": bindingOf(t, "mid", kind), "typed": NewRoleBinding(binding, &Rules{})} {
			if got := o.BindsRole(); got != want {
				t.Errorf("%s in %s: refers to %q, want %q", kind, encoding, got, want)
			}
		}
		index := NewIndex(RoleBindings)
		for range 2 {
			index.Set(inProtobuf)
			if got := slices.Collect(index.Bindings("mid", "ops")); (len(got) == 1) != (want != "") {
				t.Errorf("%s: indexed as %v", kind, got)
			}
			index.Delete("mid", "b", "")
			if got := slices.Collect(index.Bindings("mid", "ops")); len(got) > 0 {
				t.Errorf("%s: still indexed as %v", kind, got)
			}
		}
	}
}

// What does not matter for bindings is not worth evaluating any number of them again.
func TestOnlySomeChangesOfARoleMatterForBindings(t *testing.T) {
	source := roleAt(t, "mid", "")
	for how, same := range map[string]bool{"": true, hnc.AnnotationNone + "=true": false, "terminating": false, "<root": false} {
		if got := roleAt(t, "mid", how).SameRole(source); got != same {
			t.Errorf("%q: got %t", how, got)
		}
	}
	copied := roleAt(t, "mid", "<root")
	if !roleAt(t, "mid", "<root").SameRole(copied) || roleAt(t, "mid", "<other").SameRole(copied) {
		t.Error("copies are the same if their source is in the same namespace")
	}
	if source.SameRole(nil) || (*Object)(nil).SameRole(source) {
		t.Error("a Role that comes or goes matters")
	}
}

// roleBinding returns the RoleBinding b, which refers to the Role ops: how is "" for a source, "<namespace" for a copy,
// and "terminating" for a source that its finalizers keep.
func roleBinding(t *testing.T, namespace, how string) *Object {
	t.Helper()
	role := roleAt(t, namespace, how)
	return &Object{
		Namespace: namespace, Name: "b", UID: role.UID, ResourceVersion: role.ResourceVersion, Terminating: role.Terminating, Copy: role.Copy,
		InheritedFrom: role.InheritedFrom, fitness: fitnessOfCopy("ops"),
	}
}

// Otherwise a user could bind a name in advance, and get the permissions of a Role that comes from above later.
func TestARoleFromAboveInvalidatesRoleBindings(t *testing.T) {
	const (
		allow    = hnc.AnnotationAllowOverride + "=true"
		override = hnc.AnnotationOverride + "=true"
		toMid    = hnc.AnnotationSelect + "=env=mid"
	)
	for name, row := range map[string]struct {
		roles   map[string]string
		binding string
		want    Verb
	}{
		"it comes":                               {map[string]string{"root": ""}, "", Delete},
		"it overwrites a local one":              {map[string]string{"root": "", "leaf": ""}, "", Delete},
		"it replaces a copy from elsewhere":      {map[string]string{"root": "", "mid": "", "leaf": "<mid"}, "", Delete},
		"it replaces a copy from another tree":   {map[string]string{"root": "", "leaf": "<other"}, "", Delete},
		"it comes, and finalizers keep it":       {map[string]string{"root": ""}, "terminating", Wait},
		"it has been inherited":                  {map[string]string{"root": "", "leaf": "<root"}, "", ""},
		"it was the one of the namespace":        {map[string]string{"leaf": ""}, "", ""},
		"the override stays":                     {map[string]string{"root": allow, "leaf": override}, "", ""},
		"it goes elsewhere":                      {map[string]string{"root": toMid}, "", ""},
		"a finalizer keeps the local one":        {map[string]string{"root": "", "leaf": "terminating"}, "", ""},
		"no Role comes":                          {nil, "", ""},
		"the binding is a copy of one that went": {map[string]string{"root": ""}, "<root", Delete},
	} {
		t.Run(name, func(t *testing.T) {
			index := NewIndex(RoleBindings)
			index.Roles = NewIndex(Roles)
			for namespace, how := range row.roles {
				index.Roles.Set(roleAt(t, namespace, how))
			}
			index.Set(roleBinding(t, "leaf", row.binding))
			other := bindingOf(t, "leaf", "ClusterRole")
			other.Name = "other"
			index.Set(other)
			d := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}, Labels: func(namespace string) map[string]string { return map[string]string{"env": namespace} }}.Remember()
			var got Verb
			w := index.Decide(d, "b")
			if w != nil {
				got = w.Verb
			}
			if got != row.want {
				t.Fatalf("got %q, want %q", got, row.want)
			}
			if removals, writes := index.DecideAll(d); len(removals) != min(len(row.want), 1) || len(writes) > 0 {
				t.Errorf("all: removed %v, written %v", removals, writes)
			}
			if index.Right(d) != (row.want == "") {
				t.Errorf("it is right: %t", index.Right(d))
			}
			local := row.binding == ""
			if w != nil && (w.Overwrites() != (local && got == Delete) || w.From() != "root") {
				t.Errorf("it overwrites: %t, from %q", w.Overwrites(), w.From())
			}
			if role := index.Roles.Decide(d, "ops"); role != nil {
				bound := slices.Collect(index.Bound(*role, d))
				if awaits := len(bound) > 0; awaits != (row.want != "") {
					t.Errorf("the Role awaits %v", bound)
				}
			}
		})
	}
}

// The copies of an invalid RoleBinding go with it, and no new ones are made.
func TestAnInvalidRoleBindingIsNotCopied(t *testing.T) {
	for mid, want := range map[string]bool{"": false, "-": false, "<root": true} {
		index := NewIndex(RoleBindings)
		index.Roles = NewIndex(Roles)
		index.Roles.Set(roleAt(t, "root", ""))
		index.Roles.Set(roleAt(t, "leaf", "<root"))
		if mid != "-" {
			index.Roles.Set(roleAt(t, "mid", mid))
		}
		binding := bindingOf(t, "mid", "Role")
		index.Set(binding)
		d := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}, Labels: func(string) map[string]string { return nil }}
		if got := index.Propagates(binding, d); got != want {
			t.Errorf("the Role in its namespace is %q: it is copied: %t, want %t", mid, got, want)
		}
	}
}

// A Role replaces a copy, and the copy of a RoleBinding that refers to it: neither may wait for the other for ever.
func TestARoleAwaitsTheCopiesThatReferToIt(t *testing.T) {
	index := NewIndex(RoleBindings)
	index.Roles = NewIndex(Roles)
	index.Roles.Set(roleAt(t, "root", ""))
	index.Roles.Set(roleAt(t, "leaf", "<other"))
	index.Set(bindingOf(t, "root", "Role"))
	index.Set(roleBinding(t, "leaf", "<other"))
	d := Destination{Namespace: "leaf", Ancestors: []string{"root"}, Labels: func(string) map[string]string { return nil }}
	role, binding := index.Roles.Decide(d, "ops"), index.Decide(d, "b")
	if binding == nil || binding.Verb != Update || !index.Awaits(*binding) {
		t.Fatalf("the copy: got %+v", binding)
	}
	if bound := slices.Collect(index.Bound(*role, d)); len(bound) != 1 {
		t.Errorf("the Role awaits %v", bound)
	}
	index.Delete("leaf", "b", "leaf")
	index.Wrote(bindingOf(t, "mid", "Role"), "leaf", Written{UID: "own", ResourceVersion: next()}, true)
	if bound := slices.Collect(index.Bound(*role, d)); len(bound) != 1 {
		t.Errorf("the propagator has written one: the Role awaits %v", bound)
	}
	index.Delete("leaf", "b", "own")
	if bound := slices.Collect(index.Bound(*role, d)); len(bound) != 0 {
		t.Errorf("the Role awaits %v", bound)
	}
}

// An index without copies infers from the ancestors before a move which Roles a namespace inherits.
func TestWithoutCopiesInheritedRolesAreKnownByTheAncestorsBefore(t *testing.T) {
	for _, row := range []struct {
		before []string
		want   bool
	}{{[]string{}, true}, {nil, true}, {[]string{"root"}, false}, {[]string{"root", "mid"}, false}, {[]string{"other"}, true}} {
		index := NewIndex(RoleBindings)
		index.Roles = NewIndex(Roles)
		index.Roles.Set(roleAt(t, "root", ""))
		index.Roles.Set(roleAt(t, "other", ""))
		local := bindingOf(t, "leaf", "Role")
		index.Set(local)
		d := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}, Labels: func(string) map[string]string { return nil }}
		if row.before != nil {
			d.Before = &Destination{Namespace: "leaf", Ancestors: row.before, Labels: d.Labels}
		}
		w := index.Decide(d, "b")
		if got := w != nil && w.Overwrites(); got != row.want {
			t.Errorf("before %v: it is removed: %t, want %t", row.before, got, row.want)
		}
		if got := index.Propagates(bindingOf(t, "mid", "Role"), d); got != (row.before != nil) {
			t.Errorf("before %v: one of an ancestor is copied: %t", row.before, got)
		}
	}
}
