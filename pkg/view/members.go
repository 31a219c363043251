package view

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	hncclient "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/typed/hnc/v1alpha3"
)

// Member is a namespace of a view.
type Member struct {
	// Parent is its parent, "" if it has none.
	Parent string
	// Subnamespace reports whether it exists because of a Subnamespace in its parent.
	Subnamespace bool
	// Deleting reports whether it is being deleted. Members that leave the view with a user's permissions do not need
	// it.
	Deleting bool
	// Present is done when the namespace leaves the view.
	Present context.Context

	// means is done when its name in the view means another namespace. The Handler sets it.
	means context.Context
}

// Members are the namespaces of a view.
type Members interface {
	// Get returns a namespace by its real name, nil if the view does not have it.
	Get(ctx context.Context, name string) (*Member, error)
	// Has reports whether a namespace is known to be in the view, and when it was created. It sends no request.
	Has(name string) (created time.Time, ok bool)
	// UID returns that of a namespace that is known to be in the view, "" for others. It sends no request.
	UID(name string) types.UID
	// OnChange sets what is called, outside of locks, after a namespace has joined or left the view, or was replaced by
	// one of the same name.
	OnChange(changed func(name string))
}

// Watched are the members of a view that a user sees, from a watch of mynamespaces.
type Watched struct {
	root   string
	client hncclient.MyNamespaceInterface

	mu      sync.Mutex
	known   map[string]*watched
	changed func(name string)
}

type watched struct {
	Member
	uid     string
	created time.Time
	leave   context.CancelFunc
}

// NewWatched returns the members of the view of root that the user of a client sees.
func NewWatched(root string, client hncclient.MyNamespaceInterface) *Watched {
	return &Watched{root: root, client: client, known: map[string]*watched{}, changed: func(string) {}}
}

// OnChange implements Members.
func (m *Watched) OnChange(changed func(name string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = changed
}

// Run follows the members until ctx is done. It calls synced when all are known.
func (m *Watched) Run(ctx context.Context, synced func()) error {
	selector := hnc.TreeLabel(m.root)
	informer := cache.NewSharedInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = selector
			return m.client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return m.client.Watch(ctx, options)
		},
	}, &v1alpha3.MyNamespace{}, 0)
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { m.set(o.(*v1alpha3.MyNamespace)) },
		UpdateFunc: func(_, o any) { m.set(o.(*v1alpha3.MyNamespace)) },
		DeleteFunc: func(o any) {
			if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
				m.remove(name)
			}
		},
	})
	if err != nil {
		return err
	}
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			synced()
		}
	}()
	informer.RunWithContext(ctx)
	return nil
}

func (m *Watched) set(o *v1alpha3.MyNamespace) {
	m.mu.Lock()
	known := m.known[o.Name]
	if known != nil && known.uid != string(o.UID) {
		known.leave()
		known = nil
	}
	joined := known == nil
	if joined {
		known = &watched{uid: string(o.UID), created: o.CreationTimestamp.Time}
		known.Present, known.leave = context.WithCancel(context.Background())
		m.known[o.Name] = known
	}
	known.Parent, known.Subnamespace = o.Status.Parent, o.Status.Kind == v1alpha3.NamespaceSubnamespace
	changed := m.changed
	m.mu.Unlock()
	if joined {
		changed(o.Name)
	}
}

func (m *Watched) remove(name string) {
	m.mu.Lock()
	known, changed := m.known[name], m.changed
	if known != nil {
		known.leave()
		delete(m.known, name)
	}
	m.mu.Unlock()
	if known != nil {
		changed(name)
	}
}

// Has implements Members.
func (m *Watched) Has(name string) (created time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[name]
	if known == nil {
		return time.Time{}, false
	}
	return known.created, true
}

// UID implements Members.
func (m *Watched) UID(name string) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.known[name]; known != nil {
		return types.UID(known.uid)
	}
	return ""
}

// getTimeout bounds how long a request waits for a namespace that the watch has not shown yet.
const getTimeout = 5 * time.Second

// Get implements Members. For a namespace that the watch has not shown yet, but that is there, it waits until the watch
// does: the watch may also have removed it since.
func (m *Watched) Get(ctx context.Context, name string) (*Member, error) {
	if member := m.member(name); member != nil {
		return member, nil
	}
	ctx, cancel := context.WithTimeout(ctx, getTimeout)
	defer cancel()
	if there, err := m.Exists(ctx, name); err != nil || !there {
		return nil, err
	}
	var member *Member
	err := wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		member = m.member(name)
		return member != nil, nil
	})
	if wait.Interrupted(err) {
		return nil, Unavailable(fmt.Sprintf("namespace %q is in the view, but its watch has not shown it yet", name))
	}
	return member, err
}

// Exists asks the server whether a namespace is in the view.
func (m *Watched) Exists(ctx context.Context, name string) (bool, error) {
	o, err := m.client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && hnc.IsBelow(o.Labels, nil, m.root), err
}

// member returns a member that the watch has shown.
func (m *Watched) member(name string) *Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[name]
	if known == nil {
		return nil
	}
	member := known.Member
	return &member
}
