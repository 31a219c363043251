package treerules

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sourceindex"
)

// conflicting returns objects of these names in each destination, and records the destinations.
type conflicting struct {
	mode           v1beta1.SynchronizationMode
	names, unknown []string
	// from is where they come from, the parent if it is "".
	from         string
	destinations []copies.Destination
	modes        sourceindex.Modes
	after        *sourceindex.Modes
	unread       bool
	// read is the revision up to which hierarchies are read.
	read int64
}

func (s *conflicting) Overwritten(_ context.Context, above []string, after *sourceindex.Modes, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string) {
	s.destinations, s.after = slices.Collect(destinations), after
	for _, d := range s.destinations {
		from := s.from
		switch {
		case from != "":
		case len(above) > 0:
			from = above[len(above)-1]
		default:
			from = d.Ancestors[len(d.Ancestors)-1]
		}
		for _, name := range s.names {
			kind := copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Kind: "ConfigMap"}
			writes = append(writes, copies.Write{Verb: copies.Update, Kind: kind, Namespace: d.Namespace, Name: name,
				Source: &copies.Object{Namespace: from}})
		}
	}
	return writes, s.unknown
}

func (s *conflicting) OverwrittenBy(_ context.Context, _, _ sourceindex.Modes, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string) {
	return s.Overwritten(context.Background(), nil, nil, func(yield func(copies.Destination) bool) {
		for d := range destinations {
			if len(d.Ancestors) > 0 && !yield(d) {
				return
			}
		}
	})
}

func (s *conflicting) Mode(schema.GroupResource, []string) v1beta1.SynchronizationMode { return s.mode }

func (s *conflicting) Propagated(schema.GroupResource, []string) bool {
	return modes.Policy{Mode: s.mode}.Copies()
}

func (s *conflicting) ModesKnown() bool { return !s.unread }

func (s *conflicting) CurrentModes() sourceindex.Modes { return s.modes }

func (s *conflicting) Trees(_ context.Context, revision int64) (trees map[string][]hnc.ResourceSpec, known bool, err error) {
	return s.modes.Trees, !s.unread && revision <= s.read, nil
}

// warnings collects the warnings to clients.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

func TestH11OnlyUsersAllowedToMoveLearnTheObjects(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.config().Sources = &conflicting{names: []string{"secret"}}
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "root2"), "a"); !apierrors.IsForbidden(err) || strings.Contains(err.Error(), "secret") {
		t.Errorf("without the permission to move: %v", err)
	}
	f.admin["user/a"] = true
	_, err := f.Moves.Validate(as(t, "user"), f.existing(t, "root2"), "a")
	if !apierrors.IsConflict(err) || strings.Contains(err.Error(), "secret") || !strings.HasSuffix(err.Error(), ":\nobjects that you may not list, of: configmaps") {
		t.Errorf("without the permission to list: %v", err)
	}
	f.lists = map[string]bool{"x": true}
	_, err = f.Moves.Validate(as(t, "user"), f.existing(t, "root2"), "a")
	if want := `Namespace "x": secret (/v1, Kind=ConfigMap)` + "\nobjects that you may not list, of: configmaps"; !apierrors.IsConflict(err) || !strings.HasSuffix(err.Error(), ":\n"+want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestH11TheListIsBounded(t *testing.T) {
	f := newFixture(t, forestOfRows)
	s := &conflicting{}
	for i := range 30 {
		s.names = append(s.names, fmt.Sprintf("object-%02d", i))
	}
	f.config().Sources, f.admin["user/a"], f.lists = s, true, map[string]bool{"root2": true}
	_, err := f.Moves.Validate(as(t, "user"), f.existing(t, "root2"), "a")
	if !strings.HasSuffix(err.Error(), ": object-19 (/v1, Kind=ConfigMap)\nand more\nobjects that you may not list, of: configmaps") {
		t.Error(err)
	}
}

func TestH11AppliesToUsersMovesBelowAnotherNamespaceOnly(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.config().Sources = &conflicting{names: []string{"secret"}}
	if _, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "root2"), "a"); err != nil {
		t.Errorf("the propagator was rejected: %v", err)
	}
	f.admin["user/root1"] = true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), ""); err != nil {
		t.Errorf("making a root was rejected: %v", err)
	}
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), "a"); err != nil {
		t.Errorf("no move was rejected: %v", err)
	}
	if _, err := f.Moves.ValidateRemoval(as(t, "user"), "b"); err != nil {
		t.Errorf("deleting a hierarchy was rejected: %v", err)
	}
}

func TestH11SubtreeIsEvaluatedAfterTheMove(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.stored.put(t, "c", edgeValue{Parent: "b", Hierarchy: "uid-of-an-earlier-c"})
	f.sync(t)
	for _, name := range []string{"b", "sub"} {
		ns := f.existing(t, name).DeepCopy()
		ns.Labels = map[string]string{"kept": "yes", hnc.TreeLabel("root1"): "2", hnc.TreeLabel("a"): "1", hnc.TreeLabel(name): "0"}
		if err := f.indexer.Update(ns); err != nil {
			t.Fatal(err)
		}
	}
	s := &conflicting{}
	f.config().Sources, f.admin["user/root1"], f.admin["user/x"] = s, true, true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "a"), "x"); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range s.destinations {
		names = append(names, d.Namespace)
		above := []string{"root2", "x"}
		if d.Namespace != "a" {
			above = append(above, "a")
		}
		if !slices.Equal(d.Ancestors, above) {
			t.Errorf("the ancestors of %s are %v", d.Namespace, d.Ancestors)
		}
		want := map[string]string{hnc.TreeLabel("root2"): "2", hnc.TreeLabel("x"): "1", hnc.TreeLabel("a"): "0"}
		if d.Namespace != "a" {
			want = map[string]string{"kept": "yes", hnc.TreeLabel("root2"): "3", hnc.TreeLabel("x"): "2", hnc.TreeLabel("a"): "1", hnc.TreeLabel(d.Namespace): "0"}
		}
		want[hnc.LabelIncludedNamespace], want[hnc.LabelInTree] = "true", "true"
		if labels := d.Labels(d.Namespace); !maps.Equal(labels, want) {
			t.Errorf("the labels of %s are %v, want %v", d.Namespace, labels, want)
		}
	}
	// c belonged to an earlier namespace of that name.
	if !slices.Equal(names, []string{"a", "b", "sub"}) {
		t.Errorf("evaluated %v", names)
	}
}

// Sources select namespaces by any label, so the check needs those that the propagator will set.
func TestH11LabelsAfterTheMoveAreThePropagators(t *testing.T) {
	team := func(value string) []hnc.MetaKVP { return []hnc.MetaKVP{{Key: "team", Value: value}} }
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{ManagedNamespaceLabels: []string{"team"}}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for name, row := range map[string]struct {
		sets map[string]hnc.HierarchySpec
		// present are labels of the leaf before the move, or of the external root.
		present, external map[string]string
		// request is what the request sets on the namespace, and void reports that the stored hierarchies belong to
		// earlier namespaces.
		request *hnc.HierarchySpec
		void    bool
		want    string
	}{
		"a managed label of the new parent":       {sets: map[string]hnc.HierarchySpec{"new": {Labels: team("new")}}, present: map[string]string{"team": "old"}, want: "team=new"},
		"the highest wins":                        {sets: map[string]hnc.HierarchySpec{"new": {Labels: team("new")}, "root": {Labels: team("root")}, "leaf": {Labels: team("leaf")}}, want: "team=root"},
		"not what a parent sets for itself":       {sets: map[string]hnc.HierarchySpec{"new": {NamespaceLabels: team("new")}}},
		"not what the old parent set":             {sets: map[string]hnc.HierarchySpec{"old": {Labels: team("old")}}, present: map[string]string{"team": "old"}},
		"what the old parent set in its place":    {sets: map[string]hnc.HierarchySpec{"old": {Labels: team("old")}, "moved": {Labels: team("moved")}}, present: map[string]string{"team": "old"}, want: "team=moved"},
		"what it sets for itself":                 {sets: map[string]hnc.HierarchySpec{"leaf": {NamespaceLabels: team("leaf")}}, want: "team=leaf"},
		"a foreign tree":                          {external: map[string]string{hnc.TreeLabel("org"): "4"}, want: hnc.TreeLabel("org") + "=7"},
		"a managed label of an external root":     {external: map[string]string{"team": "theirs"}, want: "team=theirs"},
		"somebody else's label":                   {present: map[string]string{"env": "test"}, want: "env=test"},
		"one that follows from its Subnamespaces": {present: map[string]string{hnc.LabelHasSubnamespaces: "true"}, want: hnc.LabelHasSubnamespaces + "=true"},
		"what the same request sets":              {request: &hnc.HierarchySpec{Labels: team("request")}, want: "team=request"},
		"what the same request sets instead":      {sets: map[string]hnc.HierarchySpec{"moved": {Labels: team("moved")}}, request: &hnc.HierarchySpec{Labels: team("request")}, want: "team=request"},
		"not what the same request removes":       {sets: map[string]hnc.HierarchySpec{"moved": {Labels: team("moved")}}, request: &hnc.HierarchySpec{}},
		"not what a void hierarchy sets":          {sets: map[string]hnc.HierarchySpec{"leaf": {Labels: team("leaf")}, "new": {Labels: team("new")}}, void: true},
		"what one sets that the move binds":       {sets: map[string]hnc.HierarchySpec{"moved": {Labels: team("moved")}}, void: true, want: "team=moved"},
		"cascading deletion by the new parent":    {sets: map[string]hnc.HierarchySpec{"new": {AllowCascadingDeletion: ptr.To(true)}}, want: hnc.LabelCascadingDeletion + "=" + hnc.CascadingAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, map[string]string{"old": "", "moved": "old", "leaf": "moved", "root": "", "new": "root"})
			f.edit(t, "leaf", func(ns *corev1.Namespace) { ns.Labels = row.present })
			if row.external != nil {
				f.edit(t, "root", func(ns *corev1.Namespace) {
					ns.Labels, ns.Annotations = row.external, map[string]string{hnc.AnnotationManagedBy: "somebody"}
				})
			}
			s := &conflicting{}
			f.config().Sources, f.config().Rules = s, func() managedkeys.Rules { return rules }
			f.Overwrites.SetHierarchies(func(ctx context.Context, namespace string) (*hnc.Hierarchy, error) {
				h, err := hierarchies(row.sets)(ctx, namespace)
				if row.void && err == nil {
					h.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: namespace, UID: "earlier"}}
				}
				return h, err
			})
			f.admin["user/old"], f.admin["user/new"] = true, true
			ctx := as(t, "user")
			if row.request != nil {
				ctx = WithRequest(ctx, &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "moved", Name: hnc.Singleton}, Spec: *row.request})
			}
			if _, err := f.Moves.Validate(ctx, f.existing(t, "moved"), "new"); err != nil {
				t.Fatal(err)
			}
			got := s.destinations[slices.IndexFunc(s.destinations, func(d copies.Destination) bool { return d.Namespace == "leaf" })].Labels("leaf")
			want := map[string]string{hnc.TreeLabel("leaf"): "0", hnc.TreeLabel("moved"): "1", hnc.TreeLabel("new"): "2", hnc.TreeLabel("root"): "3",
				hnc.LabelIncludedNamespace: "true", hnc.LabelInTree: "true"}
			if key, value, ok := strings.Cut(row.want, "="); ok {
				want[key] = value
			}
			if !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// A Subnamespace sets the labels of the namespace that it takes into the tree, and of the orphans below a new one.
func TestH11LabelsAfterAClaimAreThoseOfTheSubnamespace(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "orphan": "gone", "joins": ""})
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{ManagedNamespaceLabels: []string{"team"}}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s := &conflicting{}
	f.config().Sources, f.config().Rules = s, func() managedkeys.Rules { return rules }
	f.Overwrites.SetHierarchies(hierarchies(map[string]hnc.HierarchySpec{"joins": {Labels: []hnc.MetaKVP{{Key: "team", Value: "before"}}}}))
	f.edit(t, "joins", func(ns *corev1.Namespace) { ns.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: "a"} })
	for _, name := range []string{"orphan", "joins", "a"} {
		f.admin["user/"+name] = true
	}
	for name, at := range map[string]string{"gone": "orphan", "joins": "joins"} {
		ctx := WithRequest(as(t, "user"), &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name},
			Spec: hnc.SubnamespaceSpec{Labels: []hnc.MetaKVP{{Key: "team", Value: "request"}}}})
		if _, err := f.Claims.Validate(ctx, name, f.existing(t, "a")); err != nil {
			t.Fatal(err)
		}
		if got := s.destinations[0].Labels(at)["team"]; got != "request" || s.destinations[0].Namespace != at {
			t.Errorf("the label of %s is %q", at, got)
		}
	}
}

func TestH11ModesAfterTheMoveAreThoseOfTheRequest(t *testing.T) {
	f := newFixture(t, forestOfRows)
	secrets := []hnc.ResourceSpec{{Resource: "secrets", Mode: hnc.Ignore}}
	s := &conflicting{modes: sourceindex.Modes{Trees: map[string][]hnc.ResourceSpec{"root2": secrets}}}
	f.config().Sources, f.admin["user/a"], f.propagation["user/root1"] = s, true, true
	for _, propagation := range [][]hnc.ResourceSpec{nil, secrets} {
		h := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "root2", Name: hnc.Singleton}, Spec: hnc.HierarchySpec{Propagation: propagation}}
		if _, err := f.Moves.Validate(WithRequest(as(t, "user"), h), f.existing(t, "root2"), "a"); err != nil {
			t.Fatal(err)
		}
		switch changed := s.after != nil; {
		case changed != (propagation == nil):
			t.Errorf("the request changes modes: %t", changed)
		case changed && len(s.after.Trees) > 0:
			t.Errorf("got %v, want none", s.after.Trees)
		}
	}
}

// The index of objects is locked while labels are asked for.
func TestH11HierarchiesAreReadBeforeObjectsAre(t *testing.T) {
	f := newFixture(t, forestOfRows)
	s, read := &conflicting{}, 0
	f.config().Sources, f.admin["user/a"] = s, true
	f.Overwrites.SetHierarchies(func(ctx context.Context, namespace string) (*hnc.Hierarchy, error) {
		read++
		return hierarchies(nil)(ctx, namespace)
	})
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "root2"), "a"); err != nil {
		t.Fatal(err)
	}
	before := read
	for _, d := range s.destinations {
		d.Labels(d.Namespace)
	}
	if before == 0 || read != before {
		t.Errorf("%d hierarchies were read before, and %d after", before, read-before)
	}
}

func TestH11SourcesOfTheSubtreeAreNamed(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.config().Sources, f.admin["user/a"] = &conflicting{names: []string{"settings"}, from: "root2"}, true
	f.lists = map[string]bool{"x": true}
	_, err := f.Moves.Validate(as(t, "user"), f.existing(t, "root2"), "a")
	if err == nil || !strings.Contains(err.Error(), `Namespace "x": settings (/v1, Kind=ConfigMap), by what namespace "root2" propagates from then on`) {
		t.Error(err)
	}
}

func TestNewAncestorInTheSubtreeIsNoDestination(t *testing.T) {
	node := func(name, parent string) Node {
		return Node{Name: name, Parent: parent, Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	}
	// "parent" has come below "moved" since its chain was read.
	var names []string
	before := map[string][]string{"moved": {"top", "old"}, "other": {"top", "old", "moved"}}
	f := newFixture(t, nil)
	for d := range f.Overwrites.movedDestinations(t.Context(), []Node{node("moved", ""), node("other", "moved"), node("parent", "moved")}, []string{"moved", "old", "top"}, []string{"parent", "root"}) {
		names = append(names, d.Namespace)
		if !slices.Equal(d.Before.Ancestors, before[d.Namespace]) {
			t.Errorf("the ancestors of %s before are %v", d.Namespace, d.Before.Ancestors)
		}
	}
	if want := []string{"moved", "other"}; !slices.Equal(names, want) {
		t.Errorf("destinations: %v, want %v", names, want)
	}
	for d := range f.Overwrites.movedDestinations(t.Context(), []Node{node("moved", "")}, []string{"moved"}, []string{"parent"}) {
		if d.Before == nil {
			t.Error("it is not known that the namespace was a root")
		}
	}
}

// A subtree may override what comes from above, so its own namespaces are among the ancestors from which it inherits.
func TestH11MovedNamespacesInheritFromEachOther(t *testing.T) {
	nodes := []Node{{Name: "moved"}, {Name: "mid", Parent: "moved"}, {Name: "leaf", Parent: "mid"}}
	for i := range nodes {
		nodes[i].Namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: nodes[i].Name}}
	}
	want, chain := map[string]string{"moved": "root parent", "mid": "root parent moved", "leaf": "root parent moved mid"}, []string{"parent", "root"}
	for d := range newFixture(t, nil).Overwrites.movedDestinations(t.Context(), nodes, []string{"moved", "old"}, chain) {
		if got := strings.Join(d.Ancestors, " "); got != want[d.Namespace] {
			t.Errorf("%s inherits from %s, want %s", d.Namespace, got, want[d.Namespace])
		}
		for at, namespace := range d.Ancestors[2:] {
			if got := d.Labels(namespace)[hnc.TreeLabel("root")]; got != strconv.Itoa(at+2) {
				t.Errorf("root is %s above %s in the future", got, namespace)
			}
		}
	}
}

func TestH11ClientIsWarnedAboutUnknownKinds(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.config().Sources, f.admin["user/a"] = &conflicting{unknown: []string{"secrets"}}, true
	var w warnings
	if _, err := f.Moves.Validate(warning.WithWarningRecorder(as(t, "user"), &w), f.existing(t, "root2"), "a"); err != nil {
		t.Fatal(err)
	}
	if len(w) != 1 || !strings.Contains(w[0], "secrets") {
		t.Errorf("warned of %q", w)
	}
}

func TestK7AllTreesAreEvaluated(t *testing.T) {
	f := newFixture(t, forestOfRows)
	s := &conflicting{names: []string{"n"}}
	f.config().Sources = s
	if err := f.Overwrites.ValidateConfiguration(as(t, hnc.PropagatorUser), hnc.HNCConfigurationSpec{}, hnc.HNCConfigurationSpec{}); err != nil {
		t.Error(err)
	}
	s.unread = true
	if err := f.Overwrites.ValidateConfiguration(as(t, "user"), hnc.HNCConfigurationSpec{}, hnc.HNCConfigurationSpec{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("before the hierarchies have been read: %v", err)
	}
	s.unread = false
	f.lists = map[string]bool{"c": true}
	err := f.Overwrites.ValidateConfiguration(as(t, "user"), hnc.HNCConfigurationSpec{}, hnc.HNCConfigurationSpec{})
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `Object "n" in namespace "b" would overwrite the one in "c"`) {
		t.Error(err)
	}
	got := map[string]string{}
	for _, d := range s.destinations {
		got[d.Namespace] = strings.Join(d.Ancestors, " ")
	}
	if err := f.Overwrites.ValidatePropagation(as(t, "user"), "a", nil, nil); !apierrors.IsConflict(err) || strings.Contains(err.Error(), `"a":`) {
		t.Error(err)
	}
	below := []string{}
	for _, d := range s.destinations {
		below = append(below, d.Namespace)
	}
	slices.Sort(below)
	if !slices.Equal(below, []string{"b", "c", "sub"}) {
		t.Errorf("for spec.propagation of a, evaluated %v", below)
	}
	// orphan and its descendants are halted.
	if want := map[string]string{"a": "root1", "b": "root1 a", "c": "root1 a b", "sub": "root1 a", "x": "root2", "y": "root2 x"}; !maps.Equal(got, want) {
		t.Errorf("evaluated %v, want %v", got, want)
	}
}

func TestChangesOfModesAtTheSameTimeAreLimited(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.config().Sources = &conflicting{}
	var release func()
	for range maxModeChangesPerUser {
		var err error
		if release, err = f.Overwrites.changes.Acquire(as(t, "user")); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Overwrites.ValidatePropagation(as(t, "user"), "a", nil, []hnc.ResourceSpec{{Resource: "secrets"}}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v", err)
	}
	if err := f.Overwrites.ValidatePropagation(as(t, "user"), "a", nil, nil); err != nil {
		t.Errorf("without a change: %v", err)
	}
	if err := f.Overwrites.ValidateConfiguration(as(t, "user"), hnc.HNCConfigurationSpec{}, hnc.HNCConfigurationSpec{}); err != nil {
		t.Errorf("for the whole cluster: %v", err)
	}
	if err := f.Overwrites.ValidatePropagation(as(t, "another"), "a", nil, []hnc.ResourceSpec{{Resource: "secrets"}}); err != nil {
		t.Errorf("another user got %v", err)
	}
	release()
	for range maxModeChanges {
		if err := f.Overwrites.ValidatePropagation(as(t, "user"), "a", nil, []hnc.ResourceSpec{{Resource: "secrets"}}); err != nil {
			t.Errorf("when one has ended: %v", err)
		}
	}
}
