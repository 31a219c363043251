package treetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// Random changes a tree at random: records of namespaces, Hierarchies and Subnamespaces come and go in any order, as
// three watches bring them that know nothing of one another, and that skip what has happened while they were cut.
type Random struct {
	*rand.Rand
	Tree *tree.Tree
	// uids are those that the namespaces have had.
	uids map[string][]types.UID
}

// NewRandom returns changes of the tree that depend on the seed only.
func NewRandom(t *tree.Tree, seed uint64) *Random {
	return &Random{Rand: rand.New(rand.NewPCG(seed, 0)), Tree: t, uids: map[string][]types.UID{}} //nolint:gosec // no secrets
}

// Names are those of the namespaces that Random changes. The last one is always excluded.
var Names = []string{"a", "b", "c", "d", "e", "kube-system"}

// Change makes one change. It returns what that affects, and a description.
func (r *Random) Change() (affected tree.Affected, description string) {
	name := r.name()
	switch r.IntN(20) {
	case 0, 1, 2, 3, 4, 5, 6:
		ns := r.namespace(name)
		return r.Tree.SetNamespace(ns), fmt.Sprintf("set namespace %+v", *ns)
	case 7, 8:
		ns := r.Tree.Namespace(name)
		if ns == nil {
			return r.Change()
		}
		return r.Tree.DeleteNamespace(name, ns.UID), "delete namespace " + name
	case 9, 10, 11, 12:
		h := r.hierarchy(name)
		return r.Tree.SetHierarchy(h), fmt.Sprintf("set hierarchy %+v", *h)
	case 13, 14:
		h := r.Tree.HierarchyRecord(name)
		if h == nil {
			return r.Change()
		}
		return r.Tree.DeleteHierarchy(name, h.UID), "delete hierarchy of " + name
	case 15, 16, 17:
		s := r.subnamespace(tree.Key{Parent: name, Name: r.name()})
		return r.Tree.SetSubnamespace(s), fmt.Sprintf("set Subnamespace %+v", *s)
	default:
		keys := r.Tree.SubnamespaceKeys()
		if len(keys) == 0 {
			return r.Change()
		}
		slices.SortFunc(keys, func(a, b tree.Key) int { return slices.Compare([]string{a.Parent, a.Name}, []string{b.Parent, b.Name}) })
		key := keys[r.IntN(len(keys))]
		return r.Tree.DeleteSubnamespace(key, r.Tree.SubnamespaceRecord(key).UID), fmt.Sprintf("delete Subnamespace %v", key)
	}
}

// one reports true once in n calls.
func (r *Random) one(n int) bool { return r.IntN(n) == 0 }

func (r *Random) name() string { return Names[r.IntN(len(Names))] }

// namespace returns a new version of a namespace, which may be another incarnation. What the API server or our policies
// never change stays.
func (r *Random) namespace(name string) *tree.Namespace {
	ns := &tree.Namespace{Name: name}
	if known := r.Tree.Namespace(name); known != nil && !r.one(5) {
		*ns = *known
	} else {
		ns.UID = types.UID(fmt.Sprintf("%s-%d", name, len(r.uids[name])))
		ns.Created = metav1.Unix(int64(r.IntN(4)), 0)
		r.uids[name] = append(r.uids[name], ns.UID)
	}
	ns.ResourceVersion = Next()
	switch r.IntN(4) {
	case 0:
		ns.Terminating = true
	case 1:
		ns.SubnamespaceOf = ""
		if r.one(2) {
			ns.SubnamespaceOf = r.name()
		}
	case 2:
		ns.ManagedBy = ""
		if ns.SubnamespaceOf == "" && r.one(2) {
			ns.ManagedBy = "other"
		}
	}
	for range r.IntN(3) {
		ns.Labels = r.pairs(ns.Labels, hnc.LabelCascadingDeletion, "m1", "m2", "off", hnc.TreeLabel(r.name()), hnc.TreeLabel("org"), hnc.PodSecurityLabels[0])
		ns.Annotations = r.pairs(ns.Annotations, "m1", "m2")
	}
	if r.one(8) {
		ns.Abstract = []string{"org"}
	}
	return ns
}

// pairs returns a copy of the pairs in which one is set or removed.
func (r *Random) pairs(pairs map[string]string, keys ...string) map[string]string {
	changed := map[string]string{}
	maps.Copy(changed, pairs)
	key := keys[r.IntN(len(keys))]
	switch delete(changed, key); {
	case key == hnc.LabelCascadingDeletion && r.one(2):
		changed[key] = hnc.CascadingAllowed
	case r.one(2):
		changed[key] = fmt.Sprint(1 + r.IntN(2))
	}
	return changed
}

// owner returns the UID of an incarnation of a namespace that an object in it is bound to, "" if it is not bound.
func (r *Random) owner(namespace string) types.UID {
	if known := r.uids[namespace]; len(known) > 0 && r.one(2) {
		return known[max(len(known)-1-r.IntN(2), 0)]
	}
	return ""
}

func (r *Random) metadata(m tree.Metadata) tree.Metadata {
	for _, list := range []*[]v1beta1.MetaKVP{&m.Labels, &m.Annotations, &m.NamespaceLabels, &m.NamespaceAnnotations} {
		if r.one(6) {
			*list = nil
			for _, key := range []string{"m1", "m2", "x"} {
				if r.one(3) {
					*list = append(*list, v1beta1.MetaKVP{Key: key, Value: fmt.Sprint(1 + r.IntN(2))})
				}
			}
		}
	}
	return m
}

func (r *Random) hierarchy(namespace string) *tree.Hierarchy {
	h := &tree.Hierarchy{Namespace: namespace, UID: types.UID("h-" + Next()), Owner: r.owner(namespace)}
	if known := r.Tree.HierarchyRecord(namespace); known != nil && !r.one(5) {
		*h = *known
	}
	h.ResourceVersion = Next()
	h.Generation++
	if r.one(4) {
		h.Owner = r.owner(namespace)
	}
	h.Metadata = r.metadata(h.Metadata)
	switch r.IntN(6) {
	case 0, 1:
		h.Parent = r.name()
	case 2:
		h.Parent = ""
	case 3:
		h.Cascading = !h.Cascading
	case 4:
		h.Required = nil
		for range r.IntN(3) {
			if name := r.name(); !slices.Contains(h.Required, name) {
				h.Required = append(h.Required, name)
			}
		}
	case 5:
		h.Abstract, h.SharesNames = nil, r.one(2)
		for _, name := range []string{"e", "org"} {
			if r.one(2) {
				h.Abstract = append(h.Abstract, name)
			}
		}
	}
	return h
}

func (r *Random) subnamespace(key tree.Key) *tree.Subnamespace {
	s := &tree.Subnamespace{
		Key: key, UID: types.UID("s-" + Next()), Owner: r.owner(key.Parent), Created: metav1.Unix(int64(r.IntN(4)), 0), Generation: 1,
		Finalizers: []string{hnc.FinalizerSubnamespace},
	}
	if known := r.Tree.SubnamespaceRecord(key); known != nil && !r.one(5) {
		*s = *known
	}
	s.ResourceVersion = Next()
	s.Metadata = r.metadata(s.Metadata)
	switch r.IntN(6) {
	case 0:
		s.Terminating = true
	case 1:
		s.Void = true
	case 2:
		s.Owner = r.owner(key.Parent)
	case 3:
		s.Status = v1beta1.SubnamespaceStatus{State: []v1beta1.SubnamespaceState{"", v1beta1.SubnamespaceOk, v1beta1.SubnamespaceConflict}[r.IntN(3)]}
		if r.one(2) {
			s.Status.Conditions = []metav1.Condition{{Type: hnc.ConditionReady, Status: metav1.ConditionTrue, Reason: hnc.ReasonReady, ObservedGeneration: s.Generation}}
		}
	}
	return s
}
