package hierarchyplan

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sourceindex"
)

// snapshot is the state that a plan is evaluated on: the relevant parts of the trees, and their objects.
type snapshot struct {
	tree    *tree.Tree
	indexes []*copies.Index
	// grants holds the subjects and roles of RoleBindings by UID.
	grants map[types.UID]grant
	// free is how many bytes of memory the objects leave to the effects.
	free int64
	// unknown lists what could not be read.
	unknown []string
	// modes are the modes before the change.
	modes sourceindex.Modes
	// rules are the rules after the change.
	rules *configrules.Rules
}

// index returns the index of a kind whose objects were read.
func (snap *snapshot) index(kind copies.Kind) *copies.Index {
	i := slices.IndexFunc(snap.indexes, func(x *copies.Index) bool { return x.Kind == kind })
	return snap.indexes[i]
}

// grant is the subjects and the role of a RoleBinding, with the keys of their names: those of Roles have any length,
// and a plan repeats them for each subject in each namespace.
type grant struct {
	subjects []rbacv1.Subject
	role     rbacv1.RoleRef
}

func newGrant(binding *rbacv1.RoleBinding) grant {
	g := grant{binding.Subjects, binding.RoleRef}
	g.role.Name = names.Key(g.role.Name)
	for i := range g.subjects {
		s := &g.subjects[i]
		s.Name, s.Namespace = names.Key(s.Name), names.Key(s.Namespace)
	}
	return g
}
