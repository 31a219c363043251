// Package origin tells where an object in a namespace comes from, and why one that an ancestor has is not there. It repeats what the
// propagator decides from what a user can read, and has no clients. Source: spec/hnc.md 3.7, 3.8, 3.10 and 3.11.
package origin

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/exceptions"
)

// Object is an object of the name that is asked about.
type Object struct {
	Labels, Annotations map[string]string
	Finalizers          []string
	// Type is a Secret's.
	Type string
}

// overriding returns what the object says about overrides. What can't be read says nothing.
func (o *Object) overriding() exceptions.Overrides {
	overrides, _ := exceptions.ParseOverrides(exceptions.Of(o.Annotations))
	return overrides
}

// overrides says whether the object is kept where the source would be copied, because it asks for that and the source allows it.
func (o *Object) overrides(source *Object) bool {
	return o.overriding().Requested && source.overriding().Allowed
}

// Namespace is a namespace on the way from the one that is asked about up to its root.
type Namespace struct {
	Name string
	// Object is nil if it has none of the name.
	Object *Object
	// Unread says why it is not known whether it has one.
	Unread string
	// Mode is how sources in it are propagated.
	Mode Mode
}

// Question is everything that the answer depends on.
type Question struct {
	Resource schema.GroupResource
	Kind     string
	Name     string
	// Chain begins with the namespace that is asked about and ends with its root.
	Chain []Namespace
	// Cluster is how sources are propagated about which no hierarchy says anything.
	Cluster Mode
	// Rules are those that the propagator acts by, nil if they are not known; RulesUnread says why.
	Rules       *v1beta1.Rules
	RulesUnread string
	// Labels are those of the namespace, Excluded says why it takes no part in hierarchies, "" if it does, Terminating that it is being deleted, and
	// Halted holds the condition that halts activities in it, if one does.
	Labels      map[string]string
	Excluded    string
	Terminating bool
	Halted      *metav1.Condition
}

// Mode is how objects of the kind are propagated.
type Mode struct {
	// Configured says that the kind is named, by the cluster's configuration or by a hierarchy, and Unread why that is not known.
	Configured bool
	Unread     string
	Mode       v1beta1.SynchronizationMode
	// Keep says that local objects win.
	Keep bool
}

// propagates says whether objects of the kind are copied at all.
func (m Mode) propagates() bool {
	return m.Configured && (m.Mode == v1beta1.Propagate || m.Mode == v1beta1.AllowPropagate)
}

// State is what the object in the namespace is.
type State string

// States.
const (
	Copy   State = "Copy"
	Local  State = "Local"
	Absent State = "Absent"
)

// Answer is what is known.
type Answer struct {
	Namespace string `json:"namespace"`
	Object    string `json:"object"`
	State     State  `json:"state"`
	// Source is the namespace from which a copy was made.
	Source string `json:"source,omitempty"`
	// Path leads from the namespace to the source of a copy, and otherwise to the root.
	Path []string `json:"path"`
	// Because explains it, one thing after the other.
	Because []string `json:"because"`
}

// Ask answers the question.
func (q *Question) Ask() Answer {
	a := Answer{Namespace: q.here().Name, Object: q.object(), Path: q.path(len(q.Chain))}
	switch o := q.here().Object; {
	case o == nil:
		a.State = Absent
		q.absent(&a)
	case o.Labels[hnc.LabelInheritedFrom] != "":
		a.State, a.Source = Copy, o.Labels[hnc.LabelInheritedFrom]
		q.copied(&a)
	default:
		a.State = Local
		q.local(&a)
	}
	q.unsure(&a)
	return a
}

func (q *Question) here() *Namespace { return &q.Chain[0] }

func (q *Question) object() string { return q.Resource.String() + "/" + q.Name }

func (q *Question) path(n int) []string {
	names := make([]string, 0, n)
	for i := range q.Chain[:n] {
		names = append(names, q.Chain[i].Name)
	}
	return names
}

// source says whether there is a source in a namespace of the chain; copies are none.
func (n *Namespace) source() bool {
	return n.Object != nil && n.Object.Labels[hnc.LabelInheritedFrom] == ""
}
