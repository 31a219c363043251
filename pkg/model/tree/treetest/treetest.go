// Package treetest builds trees from a few words, for tests.
package treetest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

var (
	version int
	// Now is when the tests happen.
	Now = metav1.NewTime(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
)

// Next returns a resource version that is newer than those before.
func Next() string {
	version++
	return strconv.Itoa(version)
}

// New builds a tree from lines: "ns NAME", "ns NAME sub-of PARENT", "ns NAME label KEY=VALUE", "ns NAME last",
// "terminating NAME", "finalized NAME", "gone NAME", "parent NAME PARENT", "cascading NAME", "asked PARENT NAME",
// "deleting PARENT NAME", "ready PARENT NAME", "conflict PARENT NAME", "requires NAME CHILD...", "abstract NAME
// ANCESTOR...", "shared NAME ANCESTOR...", "required PARENT NAME", "void PARENT NAME", "by PARENT NAME USER", "bound
// PARENT NAME UID", "free PARENT NAME", "kept PARENT NAME", "no-hierarchy NAME", "role NAME", "pending NAME UID", and
// those of metadata.
func New(lines ...string) *tree.Tree {
	t := tree.New(Rules())
	for _, line := range lines {
		Apply(t, line)
	}
	return t
}

// Apply applies one more line to the tree.
func Apply(t *tree.Tree, line string) {
	words := strings.Fields(line)
	name := words[1]
	switch words[0] {
	case "ns":
		ns := &tree.Namespace{Name: name, UID: types.UID("uid-" + name), ResourceVersion: Next()}
		if i := slices.Index(words, "sub-of"); i > 0 {
			ns.SubnamespaceOf = words[i+1]
		}
		if i := slices.Index(words, "label"); i > 0 {
			key, value, _ := strings.Cut(words[i+1], "=")
			ns.Labels = map[string]string{key: value}
		}
		ns.VanishesLast = slices.Contains(words, "last")
		if slices.Contains(words, "older") {
			ns.Created = metav1.Unix(1, 0)
		}
		if slices.Contains(words, "younger") {
			ns.Created = metav1.Unix(3, 0)
		}
		t.SetNamespace(ns)
	case "terminating", "finalized":
		ns := *t.Namespace(name)
		ns.ResourceVersion, ns.Terminating, ns.Finalized = Next(), true, words[0] == "finalized"
		t.SetNamespace(&ns)
	case "gone":
		t.DeleteNamespace(name, t.Namespace(name).UID)
	case "parent":
		h := Hierarchy(t, name)
		h.Parent = words[2]
		t.SetHierarchy(h)
	case "cascading":
		h := Hierarchy(t, name)
		h.Cascading = true
		t.SetHierarchy(h)
	case "requires":
		h := Hierarchy(t, name)
		h.Required = words[2:]
		t.SetHierarchy(h)
	case "abstract", "shared":
		h := Hierarchy(t, name)
		h.Abstract, h.SharesNames = words[2:], words[0] == "shared"
		t.SetHierarchy(h)
	case "role":
		t.SetCreatorRole(name)
	case "no-hierarchy":
		t.DeleteHierarchy(name, t.HierarchyRecord(name).UID)
	case "by", "required", "void", "bound", "free", "kept":
		s := *t.SubnamespaceRecord(tree.Key{Parent: name, Name: words[2]})
		s.ResourceVersion = Next()
		switch words[0] {
		case "required":
			s.Required = true
		case "void":
			s.Void = true
		case "by":
			s.Requester = words[3]
		case "bound":
			s.Owner = types.UID(words[3])
		case "free":
			s.Finalizers = nil
		case "kept":
			s.Finalizers = append(slices.Clone(s.Finalizers), "somebody.else/holds")
		}
		t.SetSubnamespace(&s)
	case "pending":
		ns := *t.Namespace(name)
		ns.ResourceVersion, ns.CreatorPending = Next(), types.UID(words[2])
		t.SetNamespace(&ns)
	case "unlimited":
		ns := *t.Namespace(name)
		ns.ResourceVersion, ns.LimitsPending = Next(), types.UID(words[2])
		t.SetNamespace(&ns)
	case "asked", "deleting", "ready", "conflict":
		s := &tree.Subnamespace{
			Key: tree.Key{Parent: name, Name: words[2]}, UID: types.UID("s-" + words[2]), ResourceVersion: Next(), Generation: 1,
			Terminating: words[0] == "deleting", Finalizers: []string{hnc.FinalizerSubnamespace}, Created: metav1.Unix(2, 0),
		}
		if words[0] == "ready" {
			s.Status = v1beta1.SubnamespaceStatus{ObservedGeneration: 1, State: v1beta1.SubnamespaceOk, Conditions: []metav1.Condition{
				{Type: hnc.ConditionReady, Status: metav1.ConditionTrue, Reason: hnc.ReasonReady, ObservedGeneration: 1}}}
		}
		if words[0] == "conflict" {
			s.Status.State = v1beta1.SubnamespaceConflict
		}
		t.SetSubnamespace(s)
	default:
		applyMetadata(t, words)
	}
}

// Hierarchy returns a new version of the namespace's Hierarchy, which may not exist yet.
func Hierarchy(t *tree.Tree, namespace string) *tree.Hierarchy {
	h := tree.Hierarchy{Namespace: namespace, UID: types.UID("h-" + namespace), Generation: 1}
	if known := t.HierarchyRecord(namespace); known != nil {
		h = *known
	}
	h.ResourceVersion = Next()
	return &h
}

// Show formats labels as sorted words, tree labels as name:depth.
func Show(labels map[string]string) string {
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

// Rules manage labels and annotations whose keys are m and a digit, and exclude namespaces labelled off besides the
// default.
func Rules() managedkeys.Rules { return Managing([]string{"m[0-9]?"}, "m[0-9]?") }

// Managing returns these rules with other patterns of managed labels and annotations.
func Managing(labels []string, annotations ...string) managedkeys.Rules {
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{
		ExcludedNamespaces:     hnc.ExcludedNamespaces,
		ManagedNamespaceLabels: labels, ManagedNamespaceAnnotations: annotations,
		ExcludedNamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "off", Operator: metav1.LabelSelectorOpExists}}},
	}, nil)
	if len(errs) > 0 {
		panic(errs.ToAggregate())
	}
	return rules
}

// applyMetadata understands "has NAME label KEY=VALUE", "has NAME annotation KEY=VALUE", "has NAME manager WHO", "has
// NAME abstract A.B" for namespaces, "says NAME FIELD KEY=VALUE" for hierarchies, "asks PARENT NAME FIELD KEY=VALUE"
// for Subnamespaces.
func applyMetadata(t *tree.Tree, words []string) {
	switch words[0] {
	case "has":
		ns := *t.Namespace(words[1])
		ns.ResourceVersion, ns.Labels, ns.Annotations = Next(), maps.Clone(ns.Labels), maps.Clone(ns.Annotations)
		key, value, _ := strings.Cut(words[3], "=")
		switch words[2] {
		case "label":
			if ns.Labels == nil {
				ns.Labels = map[string]string{}
			}
			ns.Labels[key] = value
		case "annotation":
			if ns.Annotations == nil {
				ns.Annotations = map[string]string{}
			}
			ns.Annotations[key] = value
		case "abstract":
			ns.Abstract = strings.Split(words[3], ".")
		case "manager":
			ns.ManagedBy, ns.SubnamespaceOf = words[3], ""
		}
		t.SetNamespace(&ns)
	case "says":
		h := Hierarchy(t, words[1])
		add(&h.Metadata, words[2], words[3])
		t.SetHierarchy(h)
	case "asks":
		s := *t.SubnamespaceRecord(tree.Key{Parent: words[1], Name: words[2]})
		s.ResourceVersion = Next()
		add(&s.Metadata, words[3], words[4])
		t.SetSubnamespace(&s)
	default:
		panic(strings.Join(words, " "))
	}
}

func add(m *tree.Metadata, field, what string) {
	key, value, _ := strings.Cut(what, "=")
	list := map[string]*[]v1beta1.MetaKVP{
		"labels": &m.Labels, "annotations": &m.Annotations, "namespaceLabels": &m.NamespaceLabels, "namespaceAnnotations": &m.NamespaceAnnotations,
	}[field]
	*list = append(slices.Clone(*list), v1beta1.MetaKVP{Key: key, Value: value})
}

// Managed returns the managed ones of some labels or annotations, as sorted words.
func Managed(all map[string]string) string {
	var words []string
	for key, value := range all {
		if strings.HasPrefix(key, "m") {
			words = append(words, key+"="+value)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// Both returns lines for labels and the same ones for annotations.
func Both(lines ...string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, line)
		if other := strings.NewReplacer("label ", "annotation ", "labels ", "annotations ", "namespaceLabels ", "namespaceAnnotations ").Replace(line); other != line {
			all = append(all, other)
		}
	}
	return all
}
