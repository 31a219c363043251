package namespacestate

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

const podSecurityPrefix = "pod-security.kubernetes.io/"

// podSecurityChanges returns the changes of a namespace's Pod Security labels and of their record, as words.
func podSecurityChanges(t *tree.Tree, name string) string {
	labels := LabelChanges(t, name)
	for key := range labels {
		if !strings.HasPrefix(key, podSecurityPrefix) {
			delete(labels, key)
		}
	}
	words := []string{}
	for key, value := range labels {
		word := strings.TrimPrefix(key, podSecurityPrefix) + "=-"
		if value != nil {
			word = strings.TrimPrefix(key, podSecurityPrefix) + "=" + *value
		}
		words = append(words, word)
	}
	slices.Sort(words)
	if record, ok := AnnotationChanges(t, name)[hnc.AnnotationInheritedPodSecurity]; ok {
		recorded := ""
		if record != nil {
			recorded = strings.ReplaceAll(*record, podSecurityPrefix, "")
		}
		words = append(words, fmt.Sprintf("record(%s)", recorded))
	}
	return strings.Join(words, " ")
}

func TestPodSecurityOfSubnamespaces(t *testing.T) {
	sub := []string{"ns p", "has p label enforce=restricted", "has p label warn-version=v1.30", "asked p c", "ns c sub-of p", "parent c p"}
	and := func(lines ...string) []string { return slices.Concat(sub, lines) }
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"one without labels":           {sub, "enforce=restricted warn-version=v1.30 record(enforce=restricted,warn-version=v1.30)"},
		"one that is right":            {and("has c label enforce=restricted", "has c label warn-version=v1.30", "recorded c enforce=restricted,warn-version=v1.30"), ""},
		"the parent gets stricter":     {and("has c label enforce=baseline", "recorded c enforce=baseline"), "enforce=restricted warn-version=v1.30 record(enforce=restricted,warn-version=v1.30)"},
		"the parent loses a label":     {and("has c label enforce=restricted", "has c label warn-version=v1.30", "has c label audit=baseline", "recorded c audit=baseline,enforce=restricted,warn-version=v1.30"), "audit=- record(enforce=restricted,warn-version=v1.30)"},
		"a pin":                        {and("has c label enforce=privileged", "has c label warn-version=v1.30", "recorded c enforce=restricted,warn-version=v1.30"), "record(warn-version=v1.30)"},
		"a pin that is known":          {and("has c label enforce=privileged", "has c label warn-version=v1.30", "recorded c warn-version=v1.30"), ""},
		"what was there before":        {and("has c label enforce=baseline"), "warn-version=v1.30 record(warn-version=v1.30)"},
		"a pin that is removed":        {and("has c label warn-version=v1.30", "recorded c warn-version=v1.30"), "enforce=restricted record(enforce=restricted,warn-version=v1.30)"},
		"other labels":                 {and("has p label x=1", "has c label enforce=restricted", "has c label warn-version=v1.30", "recorded c enforce=restricted,warn-version=v1.30"), ""},
		"an orphan follows":            {[]string{"ns p", "has p label enforce=restricted", "ns c sub-of p", "parent c p", "has c label enforce=baseline", "recorded c enforce=baseline"}, "enforce=restricted record(enforce=restricted)"},
		"an orphan loses nothing":      {[]string{"ns p", "ns c sub-of p", "parent c p", "has c label enforce=restricted", "recorded c enforce=restricted"}, ""},
		"an orphan can be pinned":      {[]string{"ns p", "ns c sub-of p", "parent c p", "has c label enforce=baseline", "recorded c enforce=restricted"}, "record()"},
		"below an orphan":              {[]string{"ns o", "ns p sub-of o", "parent p o", "has p label enforce=restricted", "recorded p enforce=restricted", "asked p c", "ns c sub-of p", "parent c p"}, "enforce=restricted record(enforce=restricted)"},
		"an annotation alone":          {[]string{"ns p", "has p label enforce=privileged", "ns c sub-of p", "has c label enforce=restricted", "recorded c enforce=restricted"}, ""},
		"a full namespace":             {[]string{"ns p", "has p label enforce=restricted", "ns c", "parent c p"}, ""},
		"a converted one":              {[]string{"ns p", "has p label enforce=restricted", "asked p c", "void p c", "ns c", "parent c p", "has c label enforce=baseline", "recorded c enforce=baseline"}, ""},
		"below a sub-namespace":        {[]string{"ns o", "has o label enforce=restricted", "asked o p", "ns p sub-of o", "parent p o", "asked p c", "ns c sub-of p", "parent c p"}, "enforce=restricted record(enforce=restricted)"},
		"below a pin":                  {[]string{"ns o", "has o label enforce=restricted", "asked o p", "ns p sub-of o", "parent p o", "has p label enforce=baseline", "asked p c", "ns c sub-of p", "parent c p"}, "enforce=baseline record(enforce=baseline)"},
		"below a full namespace":       {[]string{"ns o", "has o label enforce=restricted", "ns p", "parent p o", "asked p c", "ns c sub-of p", "parent c p"}, ""},
		"a parent in a halted tree":    {[]string{"ns p", "has p label enforce=restricted", "parent p gone-parent", "asked p c", "ns c sub-of p", "parent c p"}, "enforce=restricted record(enforce=restricted)"},
		"a hierarchy that sets a key":  {and("says p labels m1=1", "has c label m1=1"), "enforce=restricted warn-version=v1.30 record(enforce=restricted,warn-version=v1.30)"},
		"an excluded namespace":        {and("has c label off="), ""},
		"a namespace that terminates":  {and("terminating c"), ""},
		"the parent is being replaced": {and("gone p"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, off := range []bool{false, true} {
				w := tree.New(treetest.Rules())
				if !off {
					w.InheritPodSecurity()
				}
				for _, line := range test.given {
					for _, key := range []string{"enforce", "audit", "warn"} {
						line = strings.ReplaceAll(line, " "+key, " "+podSecurityPrefix+key)
						line = strings.ReplaceAll(line, ","+key, ","+podSecurityPrefix+key)
					}
					if words := strings.Fields(line); words[0] == "recorded" {
						ns := *w.Namespace(words[1])
						ns.ResourceVersion, ns.InheritedPodSecurity = treetest.Next(), words[2]
						w.SetNamespace(&ns)
						continue
					}
					treetest.Apply(w, line)
				}
				want := test.want
				if off {
					want = ""
				}
				if got := podSecurityChanges(w, "c"); got != want {
					t.Errorf("off %t: got %q, want %q", off, got, want)
				}
			}
		})
	}
}

func TestPodSecurityAffectsDescendants(t *testing.T) {
	w := tree.New(treetest.Rules())
	w.InheritPodSecurity()
	for _, line := range []string{"ns p", "asked p c", "ns c sub-of p", "parent c p"} {
		treetest.Apply(w, line)
	}
	ns := *w.Namespace("p")
	ns.ResourceVersion, ns.Labels = treetest.Next(), map[string]string{podSecurityPrefix + "audit": "baseline"}
	if affected := w.SetNamespace(&ns); !slices.Contains(affected.Changed, "c") {
		t.Errorf("got %+v", affected)
	}
}

// somePodSecurity are the patterns of managed labels, among them some of Pod Security.
var somePodSecurity = []string{"m[0-9]*", podSecurityPrefix + "(enforce|audit)"}

// podSecurityByDefinition returns the Pod Security labels of a namespace, and those that it inherits, from those of its
// parent. It evaluates the ancestors of each namespace again.
func podSecurityByDefinition(t *tree.Tree, name string) (labels, inherited map[string]string) {
	labels, inherited = map[string]string{}, map[string]string{}
	ns, set, follows := t.Namespace(name), managedLabels(t, name), followsPodSecurity(t, name)
	if follows {
		above, _ := podSecurityByDefinition(t, t.Parent(name))
		if t.Orphaned(name) {
			for key, value := range decodeLabels(ns.InheritedPodSecurity) {
				if _, ok := above[key]; !ok && ns.Labels[key] == value {
					above[key] = value
				}
			}
		}
		for key, value := range above {
			if _, ok := set[key]; !ok && !pinned(t, name, key) {
				labels[key], inherited[key] = value, value
			}
		}
	}
	for _, key := range hnc.PodSecurityLabels {
		if value, ok := set[key]; ok {
			labels[key] = value
		} else if ns != nil && !t.Keys().Label(key) && (!follows || pinned(t, name, key)) {
			if value, ok := ns.Labels[key]; ok {
				labels[key] = value
			}
		}
	}
	return labels, inherited
}

func TestPodSecurityFollowsFromThatOfTheParent(t *testing.T) {
	followed, full, large := 0, 0, strings.Repeat("x", maxManagedBytes)
	for seed := range uint64(15) {
		rules := treetest.Rules()
		if seed%3 > 0 {
			rules = treetest.Managing(somePodSecurity, "m[0-9]*")
		}
		w := tree.New(rules)
		w.InheritPodSecurity()
		r := treetest.NewRandom(w, seed)
		key := func() string { return hnc.PodSecurityLabels[r.IntN(len(hnc.PodSecurityLabels))] }
		for range 200 {
			name := treetest.Names[r.IntN(len(treetest.Names))]
			switch known := w.Namespace(name); {
			case known == nil || r.IntN(3) == 0:
				r.Change()
			case r.IntN(2) == 0:
				ns := *known
				ns.ResourceVersion, ns.Labels = treetest.Next(), map[string]string{key(): fmt.Sprint(r.IntN(2)), key(): "0"}
				ns.InheritedPodSecurity = EncodeLabels(map[string]string{key(): "0", key(): fmt.Sprint(r.IntN(2))})
				ns.SubnamespaceOf = w.Parent(name)
				w.SetNamespace(&ns)
			default:
				h := treetest.Hierarchy(w, name)
				h.Owner, h.Metadata = known.UID, tree.Metadata{}
				for _, list := range []*[]v1beta1.MetaKVP{&h.Metadata.Labels, &h.Metadata.NamespaceLabels} {
					for _, key := range []string{"m1", "m2", key(), key()} {
						if r.IntN(3) == 0 {
							*list = append(*list, v1beta1.MetaKVP{Key: key, Value: large[:len(large)*r.IntN(4)/4]})
						}
					}
				}
				w.SetHierarchy(h)
			}
			for _, name := range treetest.Names {
				if w.Excluded(name) {
					continue
				}
				_, want := podSecurityByDefinition(w, name)
				if got := InheritedPodSecurity(w, name); !maps.Equal(got, want) {
					t.Fatalf("seed %d, namespace %s below %v: %.500v, want %.500v", seed, name, w.Chain(name), got, want)
				}
				if len(want) > 0 {
					followed++
				}
				if len(leftOut(w, name)) > 0 {
					full++
				}
			}
		}
	}
	if followed < 50 || full < 50 {
		t.Errorf("%d namespaces follow, %d have no room: too few to say anything", followed, full)
	}
}

// A subtree is evaluated with each change at its root, and one object may specify 256 pairs.
func TestEvaluatingALongChainReadsEachNamespaceAFewTimes(t *testing.T) {
	// evaluate returns how many bytes are allocated to evaluate the last namespace of a chain.
	evaluate := func(labels []string, depth int, key func(level, i int) string) uint64 {
		w := tree.New(treetest.Managing(labels, "m[0-9]*"))
		w.InheritPodSecurity()
		name := func(level int) string { return fmt.Sprintf("level-%d", level) }
		for level := range depth {
			if level == 0 {
				treetest.Apply(w, "ns "+name(level))
			} else {
				treetest.Apply(w, fmt.Sprintf("ns %s sub-of %s", name(level), name(level-1)))
				treetest.Apply(w, fmt.Sprintf("asked %s %s", name(level-1), name(level)))
				treetest.Apply(w, fmt.Sprintf("parent %s %s", name(level), name(level-1)))
			}
			pairs := make([]v1beta1.MetaKVP, 256)
			for i := range pairs {
				pairs[i] = v1beta1.MetaKVP{Key: key(level, i), Value: "1"}
			}
			if s := w.SubnamespaceFor(name(level)); s != nil {
				changed := *s
				changed.ResourceVersion, changed.Metadata.Labels, changed.Metadata.Annotations = treetest.Next(), pairs, pairs
				w.SetSubnamespace(&changed)
				continue
			}
			h := treetest.Hierarchy(w, name(level))
			h.Metadata.Labels, h.Metadata.Annotations = pairs, pairs
			w.SetHierarchy(h)
		}
		last := name(depth - 1)
		if len(w.Chain(last)) != depth || !followsPodSecurity(w, last) || len(managedLabels(w, last)) == 0 {
			t.Fatalf("the chain is %v", w.Chain(last))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		LabelChanges(w, last)
		AnnotationChanges(w, last)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	repeated := func(int, int) string { return "m" }
	different := func(level, i int) string { return fmt.Sprintf("m%d", 256*level+i) }
	for name, test := range map[string]struct {
		labels []string
		key    func(level, i int) string
	}{
		"repeated keys":                       {somePodSecurity, repeated},
		"different keys":                      {somePodSecurity, different},
		"Pod Security labels are not managed": {somePodSecurity[:1], different},
	} {
		if half, whole := evaluate(test.labels, 30, test.key), evaluate(test.labels, 60, test.key); whole > 3*half {
			t.Errorf("%s: 30 namespaces take %d bytes, but 60 take %d", name, half, whole)
		}
	}
}
