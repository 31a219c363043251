package tree

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// Tree holds the objects of a cluster and what follows from them. It consists of layers, each of which is built on the
// one that it embeds: records, requests, lineage, facts and inheritance.
type Tree struct {
	inheritance
	// creatorRole is the ClusterRole that the creator of a sub-namespace gets there, "" for none.
	creatorRole string
	// kindConditions holds, by namespace, the conditions that concern kinds.
	kindConditions map[string][]metav1.Condition
	// held holds the deleted copies that finalizers keep.
	held objects
	// uncopied holds the sources whose copies could not be deleted again, and which therefore have none.
	uncopied objects
	// unreported holds the objects whose status cannot be written because of their names.
	unreported objects
	// unwritten holds, by namespace, why its labels or annotations could not be written.
	unwritten map[string]string
}

// New returns an empty tree. The rules say which namespaces are part of it, and what hierarchies may set on them.
func New(rules managedkeys.Rules) *Tree {
	t := &Tree{held: objects{}, uncopied: objects{}, unreported: objects{}, unwritten: map[string]string{}}
	t.rules = rules
	t.namespaces, t.hierarchies, t.subnamespaces = map[string]*Namespace{}, map[string]*Hierarchy{}, map[string]map[string]*Subnamespace{}
	t.byName, t.refused = map[string]sets.Set[string]{}, map[Key]string{}
	t.converted, t.abstract, t.annotated = map[Key]types.UID{}, map[string]sets.Set[string]{}, map[string]sets.Set[string]{}
	t.forest = forest.New(t.Excluded)
	return t
}

// SetCreatorRole records the ClusterRole that the creator of a sub-namespace gets there, "" for none.
func (t *Tree) SetCreatorRole(role string) { t.creatorRole = role }

// CreatorRole returns that ClusterRole.
func (t *Tree) CreatorRole() string { return t.creatorRole }
