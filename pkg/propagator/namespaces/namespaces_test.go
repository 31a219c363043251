package namespaces

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

var (
	version int
	now     = metav1.NewTime(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
)

func next() string {
	version++
	return strconv.Itoa(version)
}

// world builds a tree from lines: "ns NAME", "ns NAME sub-of PARENT", "ns NAME label KEY=VALUE", "terminating NAME", "gone NAME",
// "parent NAME PARENT", "cascading NAME", "asked PARENT NAME", "deleting PARENT NAME", "ready PARENT NAME", "conflict PARENT NAME", "requires NAME CHILD...", "required PARENT NAME", "void PARENT NAME", "by PARENT NAME USER", "role NAME",
// "pending NAME UID", and those of metadata.
func world(lines ...string) *tree.Tree {
	t := tree.New(rules())
	for _, line := range lines {
		into(t, line)
	}
	return t
}

// into adds a line to a world.
func into(t *tree.Tree, line string) {
	words := strings.Fields(line)
	name := words[1]
	switch words[0] {
	case "ns":
		ns := &tree.Namespace{Name: name, UID: types.UID("uid-" + name), ResourceVersion: next()}
		if i := slices.Index(words, "sub-of"); i > 0 {
			ns.SubnamespaceOf = words[i+1]
		}
		if i := slices.Index(words, "label"); i > 0 {
			key, value, _ := strings.Cut(words[i+1], "=")
			ns.Labels = map[string]string{key: value}
		}
		if slices.Contains(words, "older") {
			ns.Created = metav1.Unix(1, 0)
		}
		if slices.Contains(words, "younger") {
			ns.Created = metav1.Unix(3, 0)
		}
		t.SetNamespace(ns)
	case "terminating":
		ns := *t.Namespace(name)
		ns.ResourceVersion, ns.Terminating = next(), true
		t.SetNamespace(&ns)
	case "gone":
		t.DeleteNamespace(name, t.Namespace(name).UID)
	case "parent":
		h := hierarchy(t, name)
		h.Parent = words[2]
		t.SetHierarchy(h)
	case "cascading":
		h := hierarchy(t, name)
		h.Cascading = true
		t.SetHierarchy(h)
	case "requires":
		h := hierarchy(t, name)
		h.Required = words[2:]
		t.SetHierarchy(h)
	case "role":
		t.SetCreatorRole(name)
	case "by", "required", "void":
		s := *t.SubnamespaceRecord(tree.Key{Parent: name, Name: words[2]})
		s.ResourceVersion, s.Required, s.Void = next(), words[0] == "required", words[0] == "void"
		if words[0] == "by" {
			s.Requester = words[3]
		}
		t.SetSubnamespace(&s)
	case "pending":
		ns := *t.Namespace(name)
		ns.ResourceVersion, ns.CreatorPending = next(), types.UID(words[2])
		t.SetNamespace(&ns)
	case "asked", "deleting", "ready", "conflict":
		s := &tree.Subnamespace{
			Key: tree.Key{Parent: name, Name: words[2]}, UID: types.UID("s-" + words[2]), ResourceVersion: next(), Generation: 1,
			Terminating: words[0] == "deleting", Finalizers: []string{hnc.FinalizerSubnamespace}, Created: metav1.Unix(2, 0),
		}
		if words[0] == "ready" {
			s.Status = v1beta1.SubnamespaceStatus{State: v1beta1.SubnamespaceOk, Conditions: []metav1.Condition{
				{Type: hnc.ConditionReady, Status: metav1.ConditionTrue, Reason: hnc.ReasonReady, ObservedGeneration: 1}}}
		}
		if words[0] == "conflict" {
			s.Status.State = v1beta1.SubnamespaceConflict
		}
		t.SetSubnamespace(s)
	default:
		metadataLine(t, words)
	}
}

func hierarchy(t *tree.Tree, namespace string) *tree.Hierarchy {
	h := tree.Hierarchy{Namespace: namespace, UID: types.UID("h-" + namespace), Generation: 1}
	if known := t.HierarchyRecord(namespace); known != nil {
		h = *known
	}
	h.ResourceVersion = next()
	return &h
}

// show writes labels as sorted words, tree labels as name:depth.
func show(labels map[string]string) string {
	var words []string
	for key, value := range labels {
		if ancestor, ok := hnc.TreeLabelAncestor(key); ok {
			words = append(words, ancestor+":"+value)
		} else {
			words = append(words, strings.TrimPrefix(key, "hnc.x-k8s.io/"))
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestTheLabelsOfANamespaceTellItsPlaceInTheTree(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		of    string
		want  string
	}{
		"a root":                {[]string{"ns a"}, "a", "a:0 included-namespace"},
		"an excluded namespace": {[]string{"ns kube-system"}, "kube-system", ""},
		"a grandchild":          {[]string{"ns a", "ns b", "ns c", "parent b a", "parent c b"}, "c", "a:2 b:1 c:0 in-tree included-namespace"},
		"of a missing parent":   {[]string{"ns b", "parent b a"}, "b", "b:0 in-tree included-namespace"},
		"COND-AncestorHaltActivities below a missing parent": {[]string{"ns b", "ns c", "parent b a", "parent c b"}, "c", "b:1 c:0 in-tree included-namespace"},
		"of an excluded parent":                              {[]string{"ns b", "parent b kube-system"}, "b", "b:0 in-tree included-namespace"},
		"in a cycle":                                         {[]string{"ns a", "ns b", "parent a b", "parent b a"}, "a", "a:0 in-tree included-namespace"},
		"below a cycle": {[]string{"ns a", "ns b", "ns c", "parent a b", "parent b a", "parent c b"}, "c",
			"b:1 c:0 in-tree included-namespace"},
		"with a full child":                          {[]string{"ns a", "ns b", "parent b a"}, "a", "a:0 in-tree included-namespace"},
		"with a sub-namespace":                       {[]string{"ns a", "ns b sub-of a", "asked a b"}, "a", "a:0 has-subnamespaces in-tree included-namespace"},
		"with an orphan, which anybody can annotate": {[]string{"ns a", "ns b sub-of a"}, "a", "a:0 included-namespace"},
		"with a void Subnamespace":                   {[]string{"ns a", "ns b", "asked a b", "void a b", "parent b a"}, "a", "a:0 in-tree included-namespace"},
		"with an orphan that its hierarchy places":   {[]string{"ns a", "ns b sub-of a", "parent b a"}, "a", "a:0 in-tree included-namespace"},
		"with a sub-namespace that is elsewhere":     {[]string{"ns a", "ns b sub-of a", "asked a b", "parent b c", "ns c"}, "a", "a:0 included-namespace"},
		"whose sub-namespace is about to be created": {[]string{"ns a", "asked a b"}, "a", "a:0 has-subnamespaces in-tree included-namespace"},
		"whose sub-namespace is in conflict":         {[]string{"ns a", "ns b", "asked a b"}, "a", "a:0 included-namespace"},
		"whose sub-namespace is gone and won't return": {[]string{"ns a", "deleting a b"}, "a",
			"a:0 included-namespace"},
		"that does not exist yet":                  {[]string{"ns a", "cascading a", "asked a b"}, "b", "a:1 b:0 cascading-deletion in-tree included-namespace"},
		"COND-SubnamespaceAnchorMissing an orphan": {[]string{"ns a", "ns b sub-of a", "parent b a"}, "b", "a:1 b:0 in-tree included-namespace orphaned"},
		"an orphan to be":                          {[]string{"ns a", "ns b sub-of a", "deleting a b"}, "b", "a:1 b:0 in-tree included-namespace"},
		"cascading by itself":                      {[]string{"ns a", "cascading a"}, "a", "a:0 cascading-deletion included-namespace"},
		"cascading by a root": {[]string{"ns a", "ns b", "ns c", "cascading a", "parent b a", "parent c b"}, "c",
			"a:2 b:1 c:0 cascading-deletion in-tree included-namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := show(Labels(world(test.given...), test.of)); got != test.want {
				t.Errorf("labels %q, want %q", got, test.want)
			}
		})
	}
}

func TestOnlyLabelsThatDifferAreChanged(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		want  map[string]string // "-" removes
	}{
		"all missing":           {[]string{"ns a"}, map[string]string{"a.tree.hnc.x-k8s.io/depth": "0", hnc.LabelIncludedNamespace: "true"}},
		"a wrong value":         {[]string{"ns a label a.tree.hnc.x-k8s.io/depth=7"}, map[string]string{"a.tree.hnc.x-k8s.io/depth": "0", hnc.LabelIncludedNamespace: "true"}},
		"a stale tree label":    {[]string{"ns a label x.tree.hnc.x-k8s.io/depth=1"}, map[string]string{"a.tree.hnc.x-k8s.io/depth": "0", hnc.LabelIncludedNamespace: "true", "x.tree.hnc.x-k8s.io/depth": "-"}},
		"one that is right":     {[]string{"ns a label a.tree.hnc.x-k8s.io/depth=0"}, map[string]string{hnc.LabelIncludedNamespace: "true"}},
		"somebody else's label": {[]string{"ns a label team=x"}, map[string]string{"a.tree.hnc.x-k8s.io/depth": "0", hnc.LabelIncludedNamespace: "true"}},
		"a terminating one":     {[]string{"ns a", "terminating a"}, map[string]string{}},
		"a missing one":         {nil, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for key, value := range LabelChanges(world(test.given...), "a") {
				got[key] = "-"
				if value != nil {
					got[key] = *value
				}
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("changes %v, want %v", got, test.want)
			}
		})
	}
	excluded := LabelChanges(world("ns kube-system label hnc.x-k8s.io/included-namespace=true"), "kube-system")
	if len(excluded) != 1 || excluded[hnc.LabelIncludedNamespace] != nil {
		t.Errorf("an excluded namespace gets %v", excluded)
	}
}

func TestTheStatusOfAHierarchyTellsChildrenAndProblems(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		want  string // children, then type=reason; "none", "create" or "create PARENT"
	}{
		"a lonely root without a hierarchy":                  {[]string{"ns a"}, "none"},
		"a lonely root with one":                             {[]string{"ns a", "cascading a"}, "Ready=Ready"},
		"a root with children and none":                      {[]string{"ns a", "ns b", "parent b a"}, "create"},
		"a terminating one":                                  {[]string{"ns a", "ns b", "parent b a", "terminating a"}, "none"},
		"COND-IllegalParent an excluded parent":              {[]string{"ns a", "parent a kube-system"}, "ActivitiesHalted=IllegalParent Ready=IllegalParent"},
		"children are sorted and exist":                      {[]string{"ns a", "parent a ", "ns c", "ns b", "parent b a", "parent c a", "parent d a", "ns r", "parent a r"}, "b c Ready=Ready"},
		"COND-ParentMissing a missing parent":                {[]string{"ns a", "parent a p"}, "ActivitiesHalted=ParentMissing Ready=ParentMissing"},
		"COND-AncestorHaltActivities below a missing parent": {[]string{"ns a", "ns b", "parent a b", "parent b p"}, "ActivitiesHalted=AncestorHaltActivities Ready=AncestorHaltActivities"},
		"COND-InCycle a cycle":                               {[]string{"ns a", "ns b", "parent a b", "parent b a"}, "b ActivitiesHalted=InCycle Ready=InCycle"},
		"an orphan without a hierarchy":                      {[]string{"ns p", "ns a sub-of p"}, "create"},
		"COND-SubnamespaceAnchorMissing an orphan":           {[]string{"ns p", "ns a sub-of p", "parent a p"}, "BadConfiguration=SubnamespaceAnchorMissing Ready=SubnamespaceAnchorMissing"},
		"an orphan of a missing parent":                      {[]string{"ns a sub-of p", "parent a p"}, "ActivitiesHalted=ParentMissing BadConfiguration=SubnamespaceAnchorMissing Ready=ParentMissing"},
		"a sub-namespace that lost hierarchy":                {[]string{"ns p", "ns a sub-of p", "asked p a", "ns b", "parent b a"}, "create p"},
	} {
		t.Run(name, func(t *testing.T) {
			given := slices.DeleteFunc(slices.Clone(test.given), func(line string) bool { return line == "parent a " })
			w := Status(world(given...), "a", now)
			got := "none"
			switch {
			case w == nil:
			case w.Create:
				got = strings.TrimSpace("create " + w.Parent)
			default:
				words := slices.Clone(w.Status.Children)
				for _, c := range w.Status.Conditions {
					words = append(words, c.Type+"="+c.Reason)
					if want := c.Type != hnc.ConditionReady || c.Reason == hnc.ReasonReady; (c.Status == metav1.ConditionTrue) != want {
						t.Errorf("%s is %s for %s", c.Type, c.Status, c.Reason)
					}
					if c.ObservedGeneration != 1 || c.LastTransitionTime != now || c.Message == "" {
						t.Errorf("incomplete condition %v", c)
					}
				}
				got = strings.Join(words, " ")
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAStatusIsWrittenOnceAndKeepsItsTransitionTimes(t *testing.T) {
	w := world("ns a", "parent a p")
	first := Status(w, "a", now)
	h := *w.Hierarchy("a")
	h.ResourceVersion, h.Status = next(), first.Status
	w.SetHierarchy(&h)
	later := metav1.NewTime(now.Add(time.Hour))
	if again := Status(w, "a", later); again != nil {
		t.Fatalf("written again: %v", again.Status)
	}
	h.ResourceVersion, h.Generation = next(), 2
	w.SetHierarchy(&h)
	second := Status(w, "a", later)
	if second == nil || second.Status.Conditions[0].LastTransitionTime != now || second.Status.Conditions[0].ObservedGeneration != 2 {
		t.Errorf("after a new generation: %v", second)
	}
	w.SetNamespace(&tree.Namespace{Name: "p", UID: "uid-p", ResourceVersion: next()})
	healed := Status(w, "a", later)
	if healed == nil || len(healed.Status.Conditions) != 1 || healed.Status.Conditions[0].LastTransitionTime != later {
		t.Errorf("healed: %v", healed)
	}
}
