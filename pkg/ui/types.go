package ui

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
)

// Reader reads from the cluster what the page shows, and makes changes, as the user of the kubeconfig. It returns the
// errors of the API.
type Reader interface {
	// Session describes the connection. It sends no request.
	Session() Session
	// Forest returns all namespaces that the user may see.
	Forest(ctx context.Context) (*Forest, error)
	// Namespace returns the details of a namespace.
	Namespace(ctx context.Context, name string) (*Namespace, error)
	// Objects returns the objects of a propagated resource in a namespace, and those in its ancestors that are not
	// there.
	Objects(ctx context.Context, namespace, resource string) (*Objects, error)
	// Explain says where an object comes from, or why it is not there.
	Explain(ctx context.Context, namespace, resource, name string) (*Explanation, error)
	// Content returns an object as YAML, and how it differs from its source.
	Content(ctx context.Context, namespace, resource, name string) (*Content, error)
	// Events returns the latest events in a namespace, the latest first.
	Events(ctx context.Context, namespace string) (*Events, error)
	// Mine returns the names of the namespaces that RBAC lets the user get.
	Mine(ctx context.Context) ([]string, error)
	// Access returns who has a permission in a namespace; without a verb or a resource, all grants.
	Access(ctx context.Context, namespace, verb, resource string) (*Access, error)
	// Quotas returns the hierarchical quotas that the user may see.
	Quotas(ctx context.Context) (*Quotas, error)
	// Administration returns the configuration and the repositories.
	Administration(ctx context.Context) (*Administration, error)
	// Checks looks for problems of the installation.
	Checks(ctx context.Context) ([]Check, error)
	// Plan returns what a change would do.
	Plan(ctx context.Context, namespace string, change Change) (*Plan, error)
	// Apply makes a change. It is called only if the session may write. subnamespace is that of the plan.
	Apply(ctx context.Context, namespace string, change Change, subnamespace types.UID) error
	// Watch calls changed once it has begun, and after each change of a namespace, a hierarchy or a quota. It returns
	// when the watch ends.
	Watch(ctx context.Context, changed func()) error
	// Problem describes an error in words, and says what to do about it.
	Problem(err error) Problem
}

// Problem is an error as the page shows it.
type Problem struct {
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	// MissingPermission is what the user lacks, if that is the reason.
	MissingPermission string `json:"missingPermission,omitempty"`
	Hint              string `json:"hint,omitempty"`
}

// Session is the connection to the cluster.
type Session struct {
	Context string `json:"context"`
	Cluster string `json:"cluster"`
	User    string `json:"user"`
	// Write says that the page can make changes.
	Write bool `json:"write,omitempty"`
}

// Kind of a namespace.
type Kind string

// The kinds of namespaces.
const (
	Full         Kind = "full"
	Subnamespace Kind = "sub-namespace"
	External     Kind = "external"
)

// Forest is a list of namespaces.
type Forest struct {
	// Namespaces are those that exist, sorted by name.
	Namespaces []Member `json:"namespaces"`
	// Partial says why the list may be incomplete, empty if it is complete.
	Partial string `json:"partial,omitempty"`
}

// Member is a namespace of a forest.
type Member struct {
	Name     string             `json:"name"`
	Parent   string             `json:"parent,omitempty"`
	Kind     Kind               `json:"kind"`
	Deleting bool               `json:"deleting,omitempty"`
	Created  *time.Time         `json:"created,omitempty"`
	Labels   map[string]string  `json:"labels,omitempty"`
	Problems []metav1.Condition `json:"problems,omitempty"`
}

// Namespace holds the details of a namespace.
type Namespace struct {
	Member
	// Path leads from the root to the namespace.
	Path []string `json:"path"`
	// AbstractAncestors are the names above the root that are not namespaces, the nearest first.
	AbstractAncestors        []string `json:"abstractAncestors,omitempty"`
	AllowsCascadingDeletion  bool     `json:"allowsCascadingDeletion"`
	CascadingDeletionSetFrom string   `json:"cascadingDeletionSetFrom,omitempty"`
	// Excluded is the reason why it is excluded from hierarchies.
	Excluded string  `json:"excluded,omitempty"`
	Children []Child `json:"children"`
	// LabelsFrom names, for each label, what sets it.
	LabelsFrom []Label `json:"labelsFrom"`
	// Resources are those with a mode of propagation, in the configuration or in a hierarchy of the path.
	Resources []string `json:"resources"`
	// Notes say what could not be read.
	Notes []string `json:"notes,omitempty"`
}

// Child is a child of a namespace, or a Subnamespace that is not one.
type Child struct {
	Name         string `json:"name"`
	Subnamespace bool   `json:"subnamespace"`
	// State is the state of the Subnamespace.
	State string `json:"state,omitempty"`
}

// Label is a label of a namespace.
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// From is the namespace whose hierarchy sets the label, empty if none does. Tree says that the tree itself does.
	From string `json:"from,omitempty"`
	Tree bool   `json:"tree,omitempty"`
}

// Objects are the objects of a resource in a namespace.
type Objects struct {
	// Mode is how objects in the namespace are propagated, empty if that is not known.
	Mode  string   `json:"mode,omitempty"`
	Items []Object `json:"items"`
	// Notes say what could not be read.
	Notes []string `json:"notes,omitempty"`
}

// Explanation says where an object comes from, and what each namespace up to the root has.
type Explanation struct {
	*origin.Answer
	// Levels begin with the namespace.
	Levels []Level `json:"levels"`
}

// Level is a namespace above an object, or its own.
type Level struct {
	Namespace string `json:"namespace"`
	// State is empty if it is not known; Unread is the reason.
	State  origin.State `json:"state,omitempty"`
	Source string       `json:"source,omitempty"`
	Unread string       `json:"unread,omitempty"`
	// Mode is how objects of the kind are propagated from there, empty if that is not known.
	Mode string `json:"mode,omitempty"`
}

// Content is an object as YAML, without the values of Secrets and what the server manages. Differences are unified.
type Content struct {
	Manifest string `json:"manifest"`
	// Source is the namespace of the source of a copy. Difference leads from the source to the copy.
	Source     string `json:"source,omitempty"`
	Difference string `json:"difference,omitempty"`
	// Overwritten leads from the object that the copy replaced to the copy.
	Overwritten string   `json:"overwritten,omitempty"`
	Notes       []string `json:"notes,omitempty"`
}

// Events are events in a namespace.
type Events struct {
	Items []Event `json:"items"`
	// Notes say what has not been read.
	Notes []string `json:"notes,omitempty"`
}

// Event is an event about an object of a namespace.
type Event struct {
	Warning bool      `json:"warning,omitempty"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Count   int32     `json:"count"`
	Last    time.Time `json:"last"`
}

// Object is an object in a namespace or one of its ancestors.
type Object struct {
	Name  string       `json:"name"`
	State origin.State `json:"state"`
	// Source is the namespace of the source of a copy, or of an object that is not in the namespace.
	Source string `json:"source,omitempty"`
	// Override says that it asks to be kept instead of a copy.
	Override bool `json:"override,omitempty"`
}
