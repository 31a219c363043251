package plan

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	shop   = ID{Kind: schema.GroupKind{Kind: "Namespace"}, Name: "shop"}
	grant  = ID{Kind: schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}, Namespace: "shop", Name: "grant"}
	policy = ID{Kind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: "shop", Name: "policy"}
)

// text returns what a plan does, in order.
func text(p *Plan) string {
	var all []string
	for _, objects := range p.Apply {
		for _, o := range objects {
			verb := "apply"
			if p.Drifted[o.ID] {
				verb = "correct"
			}
			all = append(all, verb+" "+o.Name)
		}
	}
	for _, list := range []struct {
		verb string
		ids  []ID
	}{{"delete", p.Delete}, {"delete", p.DeleteNamespaces}, {"release", p.Release}, {"forget", p.Forget}} {
		for _, id := range list.ids {
			all = append(all, list.verb+" "+id.Name)
		}
	}
	for _, o := range p.Late {
		all = append(all, "apply "+o.Name+" at last")
	}
	return strings.Join(all, ", ")
}

func TestPlan(t *testing.T) {
	object := func(id ID, hash uint64) *Object {
		return &Object{ID: id, Hash: hash, Phase: phaseOf(id.Kind, id.Namespace)}
	}
	below := &Object{ID: ID{Kind: HierarchyKind, Namespace: "leaf", Name: "leaf"}, Phase: PhaseHierarchies, above: []string{"shop"}}
	live, definition := Live{UID: "u", Version: 1, Owned: 7}, schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	with := func(change func(*Live)) Live {
		l := live
		change(&l)
		return l
	}
	for name, c := range map[string]struct {
		desired []*Object
		live    map[ID]Live
		applied map[ID]Applied
		keep    bool
		want    string
	}{
		"new objects, in order":                               {[]*Object{object(policy, 1), object(shop, 1)}, nil, nil, false, "apply shop, apply policy"},
		"nothing has changed":                                 {[]*Object{object(policy, 1)}, map[ID]Live{policy: live}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, ""},
		"after a restart":                                     {[]*Object{object(policy, 1)}, map[ID]Live{policy: live}, nil, false, "apply policy"},
		"another content":                                     {[]*Object{object(policy, 2)}, map[ID]Live{policy: live}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "apply policy"},
		"somebody changed a field":                            {[]*Object{object(policy, 1)}, map[ID]Live{policy: with(func(l *Live) { l.Owned = 8 })}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "correct policy"},
		"somebody changed others":                             {[]*Object{object(policy, 1)}, map[ID]Live{policy: with(func(l *Live) { l.Version = 2 })}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, ""},
		"somebody deleted it":                                 {[]*Object{object(policy, 1)}, nil, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "correct policy"},
		"somebody replaced it":                                {[]*Object{object(policy, 1)}, map[ID]Live{policy: with(func(l *Live) { l.UID = "v" })}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "correct policy"},
		"it has left":                                         {nil, map[ID]Live{policy: live}, nil, false, "delete policy"},
		"it has left, without prune":                          {nil, map[ID]Live{policy: live}, nil, true, ""},
		"it only has the label":                               {nil, map[ID]Live{policy: with(func(l *Live) { l.Owned = 0 })}, nil, false, ""},
		"somebody removed the label, and it has left":         {nil, nil, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "delete policy"},
		"somebody removed the field manager, and it has left": {nil, map[ID]Live{policy: with(func(l *Live) { l.Owned = 0 })}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "delete policy"},
		"a namespace loses the label, and has left":           {nil, nil, map[ID]Applied{shop: {Hash: 1, Live: live}}, false, ""},
		"it is deleted with its namespace":                    {nil, map[ID]Live{shop: live}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "delete shop"},
		"it was detached, and has left":                       {nil, nil, map[ID]Applied{policy: {Hash: 1, Live: with(func(l *Live) { l.Detached = true })}}, false, ""},
		"it is detached":                                      {nil, map[ID]Live{policy: with(func(l *Live) { l.Detached = true })}, nil, false, "release policy"},
		"somebody made it detached, and it has left":          {nil, map[ID]Live{policy: with(func(l *Live) { l.Detached = true })}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "delete policy"},
		"a namespace that somebody made detached":             {nil, map[ID]Live{shop: with(func(l *Live) { l.Detached = true })}, map[ID]Applied{shop: {Hash: 1, Live: live}}, false, "delete shop"},
		"detached, and replaced by somebody":                  {nil, map[ID]Live{policy: with(func(l *Live) { l.UID, l.Detached = "v", true })}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "release policy"},
		"it is being deleted":                                 {nil, map[ID]Live{policy: with(func(l *Live) { l.Terminating = true })}, nil, false, "delete policy"},
		"a definition is being deleted":                       {nil, map[ID]Live{{Kind: definition, Name: "a"}: with(func(l *Live) { l.Terminating = true })}, nil, false, ""},
		"a namespace with its permissions":                    {nil, map[ID]Live{shop: live, grant: live, policy: live}, nil, false, "delete shop"},
		"a namespace with its objects":                        {nil, map[ID]Live{shop: live, policy: live}, nil, false, "delete shop"},
		"a system namespace":                                  {nil, map[ID]Live{{Kind: shop.Kind, Name: "default"}: live}, nil, false, "release default"},
		"unmanaged":                                           {[]*Object{{ID: policy, Handling: Unmanaged, Phase: PhaseRest}}, map[ID]Live{policy: live}, nil, false, "release policy"},
		"a permission is being deleted":                       {nil, map[ID]Live{grant: with(func(l *Live) { l.Terminating = true })}, nil, false, "delete grant"},
		"unmanaged, and somebody has removed the label":       {[]*Object{{ID: policy, Handling: Unmanaged, Phase: PhaseRest}}, nil, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "forget policy"},
		"unmanaged, never applied":                            {[]*Object{{ID: policy, Handling: Unmanaged, Phase: PhaseRest}}, nil, nil, false, ""},
		"created only":                                        {[]*Object{{ID: policy, Handling: CreateOnly, Phase: PhaseRest}}, nil, nil, false, "apply policy"},
		"created only, exists":                                {[]*Object{{ID: policy, Handling: CreateOnly, Phase: PhaseRest, Hash: 2}}, map[ID]Live{policy: live}, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, ""},
		"a remnant":                                           {[]*Object{{ID: policy, Remnant: true, Phase: PhaseRest}}, map[ID]Live{policy: live}, nil, false, "apply policy"},
		"a remnant without its label":                         {[]*Object{{ID: policy, Remnant: true, Phase: PhaseRest}}, nil, map[ID]Applied{policy: {Hash: 1, Live: live}}, false, "apply policy"},
		"a remnant of nothing":                                {[]*Object{{ID: policy, Remnant: true, Phase: PhaseRest}}, nil, nil, false, ""},
		"below what is deleted":                               {[]*Object{below}, map[ID]Live{shop: live}, nil, false, "delete shop, apply leaf at last"},
		"below what is not deleted":                           {[]*Object{below}, map[ID]Live{shop: live}, nil, true, "apply leaf"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text(Compute(c.desired, &State{Live: c.live, Applied: c.applied}, !c.keep)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestPermissionsComeLastAndGoFirst has what restricts permissions written before and deleted after them. Those in the
// whole cluster are deleted after what is in namespaces, which may need them.
func TestPermissionsComeLastAndGoFirst(t *testing.T) {
	rbac := func(kind, namespace string) ID {
		return ID{Kind: schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: kind}, Namespace: namespace, Name: kind}
	}
	rule := ID{Kind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}, Name: "rule"}
	order := []ID{rule, policy, rbac("ClusterRole", ""), rbac("Role", "shop"), rbac("ClusterRoleBinding", ""), rbac("RoleBinding", "shop")}
	var desired []*Object
	live := map[ID]Live{}
	for _, id := range order {
		desired = append(desired, &Object{ID: id, Phase: phaseOf(id.Kind, id.Namespace)})
		live[id] = Live{Owned: 1}
	}
	if got, want := text(Compute(desired, &State{}, true)), "apply rule, apply policy, apply ClusterRole, apply Role, apply ClusterRoleBinding, apply RoleBinding"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := text(Compute(nil, &State{Live: live}, true)), "delete RoleBinding, delete Role, delete policy, delete ClusterRole, delete ClusterRoleBinding, delete rule"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A tenant who has an object of its own there does not keep permissions.
func TestKeptNamespacesKeepTheirObjects(t *testing.T) {
	unlabeled := ID{Kind: grant.Kind, Namespace: "shop", Name: "unlabeled"}
	state := &State{Live: map[ID]Live{shop: {Owned: 1}, policy: {Owned: 1}, grant: {Owned: 1}}, Applied: map[ID]Applied{unlabeled: {}}}
	p := Compute(nil, state, true)
	p.Keep(map[string]bool{"shop": true})
	if got := text(p); got != "delete grant, delete unlabeled" {
		t.Errorf("got %q", got)
	}
	// Whether it is kept is decided later.
	p = Compute(nil, state, true)
	revoked := fmt.Sprint(p.Revoke())
	p.Keep(map[string]bool{"shop": true})
	if revoked != fmt.Sprint([]ID{grant, unlabeled}) || p.Prunes() > 0 {
		t.Errorf("got %s, and %q is left", revoked, text(p))
	}
	// A finalizer may hold what a namespace grants that is being deleted.
	held := Compute(nil, &State{Live: map[ID]Live{shop: {Owned: 1, Terminating: true}, policy: {Owned: 1, Terminating: true}, grant: {Owned: 1, Terminating: true}}}, true)
	if got := fmt.Sprint(held.Revoke()); got != fmt.Sprint([]ID{grant}) || held.Prunes() > 0 {
		t.Errorf("of a namespace that is being deleted, got %s, and %q is left", got, text(held))
	}
	// What was shown as deleted with the namespace may be deleted without it, and nothing else.
	p, shown := Compute(nil, state, true), Compute(nil, &State{Live: map[ID]Live{shop: {Owned: 1}, grant: {Owned: 1}}}, true)
	p.Keep(map[string]bool{"shop": true})
	p.Confine(shown, func(ID) bool { return true })
	if got := text(p); got != "delete grant" {
		t.Errorf("got %q", got)
	}
	p = Compute(nil, state, true)
	p.Confine(shown, func(ID) bool { return true })
	if got := fmt.Sprint(p.Revoke()); got != fmt.Sprint([]ID{grant}) {
		t.Errorf("got %s", got)
	}
}

// Without an object of an unknown kind, nothing is missing from a repository for certain, but permissions.
func TestIncompleteRepositoriesRevokePermissions(t *testing.T) {
	elsewhere := ID{Kind: grant.Kind, Namespace: "stays", Name: "elsewhere"}
	everywhere := ID{Kind: schema.GroupKind{Group: grant.Kind.Group, Kind: "ClusterRole"}, Name: "everywhere"}
	p := Compute(nil, &State{Incomplete: true, Live: map[ID]Live{shop: {Owned: 1}, policy: {Owned: 1}, grant: {Owned: 1}, elsewhere: {Owned: 1}, everywhere: {Owned: 1}}}, true)
	if got := text(p); got != "delete grant, delete elsewhere" {
		t.Errorf("got %q", got)
	}
}

// TestHashesHaveAKey has content that FNV-1a maps to one hash.
func TestHashesHaveAKey(t *testing.T) {
	const zero = "\xd5\x6b\xb9\x53\x42\x87\x08\x36"
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(zero))
	if first, again := Hash([]byte(zero)), Hash([]byte(zero)); sum.Sum64() != 0 || first == 0 || first != again {
		t.Errorf("got %x, %x and %x", sum.Sum64(), first, again)
	}
}

// TestOnlyChangesAreCorrections applies an object that may have changed, and has not.
func TestOnlyChangesAreCorrections(t *testing.T) {
	applied := func(of map[ID]uint64) *State {
		s := &State{Applied: map[ID]Applied{}}
		for id, owned := range of {
			s.Applied[id] = Applied{Live: Live{Owned: owned}}
		}
		return s
	}
	p := &Plan{Drifted: map[ID]bool{shop: true, policy: true}}
	before, after := applied(map[ID]uint64{shop: 1, policy: 2, grant: 3}), applied(map[ID]uint64{shop: 1, policy: 4, grant: 5})
	if got := fmt.Sprint(p.Corrected(before, after)); got != fmt.Sprint([]ID{policy}) {
		t.Errorf("got %s", got)
	}
}

// A plan that was confirmed allows no deletion that was not shown, and none of an object that has taken the place of
// another one.
func TestPlansAreConfinedToOthers(t *testing.T) {
	id := func(name string) ID { return ID{Kind: policy.Kind, Namespace: "shop", Name: name} }
	shown := &Plan{Delete: []ID{id("gone"), id("replaced"), id("same")}, DeleteNamespaces: []ID{shop}, Release: []ID{id("detached")}}
	p := &Plan{Delete: []ID{id("detached"), id("new"), id("replaced"), id("same")}, Release: []ID{shop}}
	left := p.Confine(shown, func(id ID) bool { return id.Name != "replaced" })
	if got := text(p); got != "delete same" {
		t.Errorf("got %s", got)
	}
	if want := (map[ID]bool{id("gone"): true, id("replaced"): true, id("detached"): true, shop: true}); !maps.Equal(left, want) {
		t.Errorf("got %v, want %v", left, want)
	}
	// Its namespace may go, too, meanwhile.
	p = &Plan{Granted: []ID{grant}}
	if left := p.Confine(&Plan{Delete: []ID{grant}}, func(ID) bool { return true }); len(left) > 0 || len(p.Granted) != 1 {
		t.Errorf("%v is kept, and %v deleted", left, p.Granted)
	}
}

func TestFights(t *testing.T) {
	f, begin := NewFights(), time.Unix(1000, 0)
	got := ""
	for i := range 8 {
		got += fmt.Sprint(f.Correct(policy, begin.Add(time.Duration(i)*time.Second)), " ")
	}
	if want := "true true true true true false false false "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if wait := f.Next(policy, begin.Add(10*time.Second)); wait != 50*time.Second {
		t.Errorf("the next correction is in %s", wait)
	}
	if !f.Correct(policy, begin.Add(time.Minute)) || !f.Correct(shop, begin) {
		t.Error("neither a minute later nor another object may wait")
	}
}

// A revision may delete as many namespaces as it has abstract directories.
func TestPostponingTakesLinearTime(t *testing.T) {
	const n = 50_000
	p := &Plan{}
	for i := range n {
		name := fmt.Sprintf("n%06d", i)
		p.DeleteNamespaces = append(p.DeleteNamespaces, ID{Kind: shop.Kind, Name: name})
		p.Apply[PhaseHierarchies] = append(p.Apply[PhaseHierarchies], &Object{above: []string{"x" + name, "y" + name}})
	}
	start := time.Now()
	p.postpone()
	if took := time.Since(start); took > 8*time.Second || len(p.Late) > 0 {
		t.Errorf("it took %s to find %d", took, len(p.Late))
	}
}
