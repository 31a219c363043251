// Package origin explains where an object in a namespace comes from, or why an ancestor's object is not copied there.
// It repeats the propagator's decisions from what the user can read, says so where that is not enough, and has no
// clients. Source: docs/spec/hnc.md 3.7, 3.8, 3.10 and 3.11.
package origin

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/exceptions"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Object is an object of the kind and name in question.
type Object struct {
	Labels, Annotations map[string]string
	Finalizers          []string
	// Type is the type of a Secret.
	Type string
	// Role is the Role that a RoleBinding refers to, nil if it refers to none.
	Role *Role
}

// Role is a Role that a source of a RoleBinding refers to. A copy would refer to the one of that name in the namespace
// in question.
type Role struct {
	Name string
	// There and Here are the namespaces of the sources of the Roles in the namespace of the RoleBinding and in the one
	// in question, "" where there is none.
	There, Here string
	// Unread is the reason why that is not known.
	Unread string
}

// same reports whether a copy would refer to the same Role, as far as that is known.
func (r *Role) same() bool { return r == nil || r.Unread != "" || (r.There != "" && r.There == r.Here) }

// overriding returns the object's annotations about overrides. Invalid ones are ignored.
func (o *Object) overriding() exceptions.Overrides {
	overrides, _ := exceptions.ParseOverrides(exceptions.Of(o.Annotations))
	return overrides
}

// overrides reports whether the object replaces the source in its subtree: it asks for that and the source allows it.
func (o *Object) overrides(source *Object) bool {
	return o.overriding().Requested && source.overriding().Allowed
}

// Namespace is the namespace in question or one of its ancestors.
type Namespace struct {
	Name string
	// Object is nil if the namespace has no such object.
	Object *Object
	// Unread is the reason why it is not known whether it has one.
	Unread string
	// Mode is the mode of sources in the namespace.
	Mode Mode
}

// Question holds everything that the answer depends on.
type Question struct {
	Resource schema.GroupResource
	Kind     string
	Name     string
	// Chain begins with the namespace in question and ends with its root.
	Chain []Namespace
	// Cluster is the mode of sources for which no hierarchy sets one.
	Cluster Mode
	// Rules are those of the configuration, nil if they are not known; RulesUnread is the reason.
	Rules       *copies.Rules
	RulesUnread string
	// Labels are those of the namespace. Excluded is the reason why it is excluded from hierarchies, if it is.
	// Terminating says that it is being deleted. Halted is the condition that halts activities in it, if one does.
	Labels      map[string]string
	Excluded    string
	Terminating bool
	Halted      *metav1.Condition
}

// Mode is how objects of the kind are propagated from a namespace.
type Mode struct {
	// Policy has an empty mode if neither the cluster's configuration nor a hierarchy lists the kind, or if that is not
	// known. Unread is the reason why it is not.
	modes.Policy
	Unread string
}

// State classifies the object in the namespace.
type State string

// The states of an object.
const (
	Copy   State = "Copy"
	Local  State = "Local"
	Absent State = "Absent"
)

// Answer is the explanation.
type Answer struct {
	Namespace string `json:"namespace"`
	Object    string `json:"object"`
	State     State  `json:"state"`
	// Source is the namespace of the source of a copy.
	Source string `json:"source,omitempty"`
	// Path leads from the namespace to the source of a copy, and otherwise to the root.
	Path []string `json:"path"`
	// Because lists the reasons, one sentence each.
	Because []string `json:"because"`
}

// Ask answers the question.
func (q *Question) Ask() Answer {
	a := Answer{Namespace: q.here().Name, Object: q.object(), Path: q.path(len(q.Chain))}
	switch o := q.here().Object; {
	case o == nil:
		a.State = Absent
		q.explainAbsent(&a)
	case o.Labels[hnc.LabelInheritedFrom] != "":
		a.State, a.Source = Copy, o.Labels[hnc.LabelInheritedFrom]
		q.explainCopy(&a)
	default:
		a.State = Local
		q.explainLocal(&a)
	}
	q.explainUnknownRules(&a)
	return a
}

func (q *Question) here() *Namespace { return &q.Chain[0] }

func (q *Question) object() string {
	return names.Object(schema.GroupKind{Group: q.Resource.Group, Kind: q.Kind}, q.Name)
}

func (q *Question) path(n int) []string {
	names := make([]string, 0, n)
	for i := range q.Chain[:n] {
		names = append(names, q.Chain[i].Name)
	}
	return names
}

// hasSource reports whether the namespace has an object that is not a copy.
func (n *Namespace) hasSource() bool {
	return n.Object != nil && n.Object.Labels[hnc.LabelInheritedFrom] == ""
}
