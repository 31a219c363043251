package gateway

import (
	"context"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

// Tree knows the namespaces of the cluster, and the subtrees that they are in: from one watch for all views.
type Tree struct {
	client metadata.ResourceInterface

	mu         sync.Mutex
	namespaces map[string]*namespace
	// changed is called, by the root of a view, after a namespace has joined or left the view, or was replaced in it.
	changed map[string]func(name string)
}

// namespace is what a Tree knows of a namespace.
type namespace struct {
	uid     types.UID
	created time.Time
	labels  map[string]string
	// abstract are the ancestors that are not namespaces.
	abstract []string
	member   view.Member
	// present are the presences in the views of roots, as far as somebody has asked for them.
	present map[string]presence
}

type presence struct {
	context.Context
	leave context.CancelFunc
}

// NewTree returns an empty Tree. It asks the client for namespaces that it does not know.
func NewTree(client metadata.ResourceInterface) *Tree {
	return &Tree{client: client, namespaces: map[string]*namespace{}, changed: map[string]func(string){}}
}

// Handler returns what keeps the tree up to date with an informer of namespaces' metadata.
func (t *Tree) Handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { t.set(o.(*metav1.PartialObjectMetadata)) },
		UpdateFunc: func(_, o any) { t.set(o.(*metav1.PartialObjectMetadata)) },
		DeleteFunc: func(o any) {
			if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
				t.remove(name)
			}
		},
	}
}

// Trim drops from a namespace what a Tree does not need, for the cache of its informer.
func Trim(o any) (any, error) {
	if ns, ok := o.(*metav1.PartialObjectMetadata); ok {
		ns.ManagedFields = nil
		maps.DeleteFunc(ns.Labels, func(key, _ string) bool {
			_, ofTree := hnc.TreeLabelAncestor(key)
			return !ofTree
		})
		ns.Annotations = map[string]string{
			hnc.AnnotationAbstractAncestors: ns.Annotations[hnc.AnnotationAbstractAncestors],
			hnc.AnnotationSubnamespaceOf:    managedkeys.SubnamespaceOf(ns.Annotations),
		}
	}
	return o, nil
}

func (t *Tree) set(o *metav1.PartialObjectMetadata) {
	t.mu.Lock()
	known, old := t.namespaces[o.Name], namespace{}
	if known != nil {
		old = *known
	}
	if known == nil || known.uid != o.UID {
		known.leaveAll()
		known = &namespace{uid: o.UID, created: o.CreationTimestamp.Time, present: map[string]presence{}}
		t.namespaces[o.Name] = known
	}
	known.labels, known.abstract = o.Labels, hnc.AbstractAncestors(o.Annotations)
	known.member.Parent = hnc.LabeledParent(o.Name, known.labels, known.abstract)
	known.member.Subnamespace = known.member.Parent != "" && managedkeys.SubnamespaceOf(o.Annotations) == known.member.Parent
	known.member.Deleting = o.DeletionTimestamp != nil
	for root, p := range known.present {
		if !known.below(root) {
			p.leave()
			delete(known.present, root)
		}
	}
	notify := t.between(&old, known)
	t.mu.Unlock()
	for _, changed := range notify {
		changed(o.Name)
	}
}

func (t *Tree) remove(name string) {
	t.mu.Lock()
	known := t.namespaces[name]
	known.leaveAll()
	delete(t.namespaces, name)
	var notify []func(string)
	if known != nil {
		notify = t.between(known, &namespace{})
	}
	t.mu.Unlock()
	for _, changed := range notify {
		changed(name)
	}
}

// between returns what to call for the views of which a namespace was or is a member, but not both. A namespace of
// another UID is another member, although no watch has shown that the first one was deleted. The caller holds the lock.
func (t *Tree) between(old, now *namespace) []func(name string) {
	var notify []func(string)
	for root, changed := range t.changed {
		was, is := old.below(root), now.below(root)
		if was != is || is && old.uid != now.uid {
			notify = append(notify, changed)
		}
	}
	return notify
}

func (n *namespace) below(root string) bool { return hnc.IsBelow(n.labels, n.abstract, root) }

func (n *namespace) leaveAll() {
	if n == nil {
		return
	}
	for _, p := range n.present {
		p.leave()
	}
}

// members are the namespaces of one view.
type members struct {
	*Tree
	root string
}

// Has implements view.Members.
func (m members) Has(name string) (created time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.namespaces[name]
	if known == nil || !known.below(m.root) {
		return time.Time{}, false
	}
	return known.created, true
}

// UID implements view.Members.
func (m members) UID(name string) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.namespaces[name]; known != nil {
		return known.uid
	}
	return ""
}

// OnChange implements view.Members. A root has one view at a time.
func (m members) OnChange(changed func(name string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed[m.root] = changed
}

// forget ends what OnChange has begun.
func (t *Tree) forget(root string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.changed, root)
}

// lookTimeout bounds how long a request waits for a namespace that the watch has not shown in the subtree yet.
const lookTimeout = 5 * time.Second

// Get implements view.Members. For a namespace that the watch has not shown in the subtree yet, but that is there, it
// waits until the watch does.
func (m members) Get(ctx context.Context, name string) (*view.Member, error) {
	if known := m.known(name); known != nil {
		return known, nil
	}
	// The name may come from a body, and the client would put it into a path as it is.
	if len(validation.IsDNS1123Label(name)) > 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	o, err := m.client.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !hnc.IsBelow(o.Labels, hnc.AbstractAncestors(o.Annotations), m.root):
		return nil, nil
	}
	var member *view.Member
	err = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		member = m.known(name)
		return member != nil, nil
	})
	return member, err
}

// known returns a member that is known.
func (m members) known(name string) *view.Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.namespaces[name]
	if known == nil || !known.below(m.root) {
		return nil
	}
	p, ok := known.present[m.root]
	if !ok {
		p.Context, p.leave = context.WithCancel(context.Background())
		known.present[m.root] = p
	}
	member := known.member
	member.Present = p
	return &member
}
