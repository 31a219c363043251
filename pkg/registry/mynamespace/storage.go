// Package mynamespace serves mynamespaces: the namespaces that the requester is allowed to get by RBAC, with their
// position in the tree. It stores nothing and sends no access reviews: it caches all namespaces, roles and bindings,
// and the last changes of these for watches.
package mynamespace

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/selectors"
)

// limits bound the watches: each of them evaluates every change of permissions. retryAfter is in seconds.
var limits = inflight.Limits{Total: 1000, PerUser: 100}

const retryAfter = 5

// REST serves mynamespaces.
type REST struct {
	rest.TableConvertor
	cache   *Cache
	limiter *inflight.Limiter
	// responses limits the memory of lists: a Table of them is one buffer.
	responses *inflight.Limiter
}

var (
	_ rest.Storage              = &REST{}
	_ rest.Scoper               = &REST{}
	_ rest.Getter               = &REST{}
	_ rest.Lister               = &REST{}
	_ rest.Watcher              = &REST{}
	_ rest.SingularNameProvider = &REST{}
	_ rest.ShortNamesProvider   = &REST{}
)

// New returns the storage.
func New(cache *Cache, responses *inflight.Limiter) *REST {
	return &REST{
		cache:          cache,
		limiter:        inflight.New("watches of mynamespaces", limits, retryAfter),
		responses:      responses,
		TableConvertor: newTableConvertor(),
	}
}

// New returns an empty object.
func (r *REST) New() runtime.Object { return &hnc.MyNamespace{} }

// NewList returns an empty list.
func (r *REST) NewList() runtime.Object { return &hnc.MyNamespaceList{} }

// Destroy does nothing.
func (r *REST) Destroy() {}

// NamespaceScoped returns false.
func (r *REST) NamespaceScoped() bool { return false }

// GetSingularName returns the singular name.
func (r *REST) GetSingularName() string { return "mynamespace" }

// ShortNames returns the short names.
func (r *REST) ShortNames() []string { return []string{"myns"} }

// Get returns a namespace that the requester is allowed to get. It fails with NotFound for any other, so it does not
// reveal which exist.
func (r *REST) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if err := r.cache.waitForSync(ctx); err != nil {
		return nil, err
	}
	subjects, err := subjectsOf(ctx)
	if err != nil {
		return nil, err
	}
	if o := r.cache.get(subjects, name); o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(hnc.Resource("mynamespaces"), name)
}

// List returns the selected namespaces that the requester is allowed to get, regardless of limit. If their labels are too
// large, those with the largest ones have none. It fails with TooManyRequests when the lists in flight are too large.
func (r *REST) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	reader, options, err := r.reader(ctx, options)
	if err != nil {
		return nil, err
	}
	if options.Continue != "" {
		return nil, apierrors.NewResourceExpired("continue: lists of mynamespaces have one page; list again without continue")
	}
	version, err := parse(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if version != 0 {
		known, latest := r.cache.hasVersion(version)
		if !known || (options.ResourceVersionMatch == metav1.ResourceVersionMatchExact && !latest) {
			return nil, expired(version)
		}
	}
	seen, latest := r.cache.list(reader)
	list := &hnc.MyNamespaceList{ListMeta: metav1.ListMeta{ResourceVersion: format(latest)}, Items: make([]hnc.MyNamespace, len(seen))}
	for i, o := range seen {
		list.Items[i] = *o
	}
	bytes, omitted := boundLabels(list.Items)
	if omitted > 0 {
		warning.AddWarning(ctx, "", fmt.Sprintf("metadata.labels: left out of %d namespaces with large labels, because all labels have more than %d MiB; "+
			"select fewer namespaces, or get single ones", omitted, maxLabels>>20))
	}
	if err := r.responses.Hold(ctx, bytes+objectBytes*len(seen)); err != nil {
		return nil, err
	}
	return list, nil
}

const (
	// maxLabels bounds the labels in a list, in bytes. Tenants choose them.
	maxLabels = 32 << 20
	// objectBytes is about how many bytes a namespace has in a list without its labels.
	objectBytes = 512
)

// boundLabels removes the labels of the namespaces with the largest ones if all have more than maxLabels. It returns how
// many bytes the others have, and from how many namespaces labels were removed.
func boundLabels(items []hnc.MyNamespace) (bytes, omitted int) {
	sizes := make([]int, len(items))
	for i := range items {
		for key, value := range items[i].Labels {
			sizes[i] += len(key) + len(value)
		}
		bytes += sizes[i]
	}
	for most := maxLabels; bytes > maxLabels; most /= 2 {
		for i, size := range sizes {
			if size > most {
				items[i].Labels, sizes[i] = nil, 0
				bytes -= size
				omitted++
			}
		}
	}
	return bytes, omitted
}

// Watch returns the changes of what the requester is allowed to get. Without a version it starts with the current
// state. It fails with TooManyRequests when there are too many watches.
func (r *REST) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	reader, options, err := r.reader(ctx, options)
	if err != nil {
		return nil, err
	}
	release, err := r.limiter.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	w, err := r.newWatcher(reader, options)
	if err != nil {
		release()
		return nil, err
	}
	utilflowcontrol.WatchInitialized(ctx) // or the watch would hold a seat of priority and fairness until it ends
	ctx, w.stop = context.WithCancel(ctx)
	go func() {
		defer release()
		w.run(ctx)
	}()
	return w, nil
}

func (r *REST) newWatcher(reader reader, options *metainternalversion.ListOptions) (*watcher, error) {
	version, err := parse(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if version != 0 {
		if known, _ := r.cache.hasVersion(version); !known {
			return nil, expired(version)
		}
	}
	w := &watcher{cache: r.cache, reader: reader, version: version, bookmarks: options.AllowWatchBookmarks, results: make(chan watch.Event, 16)}
	// A version with initial events is the minimum version of these.
	initial := version == 0
	if options.SendInitialEvents != nil {
		initial, w.endOfInitialEvents = *options.SendInitialEvents, *options.SendInitialEvents
	}
	w.resumed = version != 0 && !initial
	if !w.resumed {
		w.initial, w.version = r.cache.list(reader)
	}
	if !initial {
		w.initial = nil
	}
	return w, nil
}

// reader returns the requester and the selection, once the cache is complete.
func (r *REST) reader(ctx context.Context, options *metainternalversion.ListOptions) (reader, *metainternalversion.ListOptions, error) {
	if err := r.cache.waitForSync(ctx); err != nil {
		return reader{}, nil, err
	}
	if options == nil {
		options = &metainternalversion.ListOptions{}
	}
	subjects, err := subjectsOf(ctx)
	if err != nil {
		return reader{}, nil, err
	}
	label, field := options.LabelSelector, options.FieldSelector
	return reader{subjects: subjects, cost: selectors.Cost(options), selects: func(o *hnc.MyNamespace) bool {
		return (label == nil || label.Matches(labels.Set(o.Labels))) && (field == nil || field.Matches(fields.Set{"metadata.name": o.Name}))
	}}, options, nil
}

func subjectsOf(ctx context.Context) ([]rbacindex.Subject, error) {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewUnauthorized("mynamespaces require an authenticated user")
	}
	return rbacindex.SubjectsOf(user.GetName(), user.GetGroups()), nil
}

// parse returns a requested version, 0 for any.
func parse(version string) (int64, error) {
	if version == "" {
		return 0, nil
	}
	v, err := strconv.ParseInt(version, 10, 64)
	if err != nil || v < 0 {
		return 0, apierrors.NewBadRequest("resourceVersion: must be 0 or a version that a list or watch of mynamespaces returned")
	}
	return v, nil
}

func expired(version int64) *apierrors.StatusError {
	return apierrors.NewResourceExpired("resourceVersion " + format(version) + " of mynamespaces is too old or from another server; list again")
}
