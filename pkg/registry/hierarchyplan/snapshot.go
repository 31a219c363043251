package hierarchyplan

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/inforce"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sources"
)

// snapshot is the state that a plan is evaluated on: the relevant parts of the trees, and their objects.
type snapshot struct {
	tree    *tree.Tree
	indexes []*copies.Index
	// grants holds the subjects and roles of RoleBindings by UID.
	grants map[types.UID]grant
	// unknown lists what could not be read.
	unknown []string
	// modes are the modes before the change.
	modes sources.Modes
	// rules are the rules after the change.
	rules *inforce.Rules
}

// grant is the subjects and the role of a RoleBinding.
type grant struct {
	subjects []rbacv1.Subject
	role     rbacv1.RoleRef
}
