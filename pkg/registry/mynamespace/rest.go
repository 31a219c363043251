// Package mynamespace serves mynamespaces: to each user the namespaces that he may get by RBAC, with their place in the tree.
// Nothing is stored and nobody is asked: a picture of all namespaces, roles and bindings is kept, with the last changes of it,
// so that lists can be watched further.
package mynamespace

import (
	"context"
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

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/access"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// REST serves mynamespaces.
type REST struct {
	rest.TableConvertor
	picture *Picture
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

// New returns the resource.
func New(picture *Picture) *REST {
	return &REST{
		picture: picture,
		TableConvertor: table.New(
			table.Column[hnc.MyNamespace]{Name: "Parent", Type: "string", Description: "The parent namespace, empty for a root.",
				Cell: func(n *hnc.MyNamespace) any { return n.Status.Parent }},
			table.Column[hnc.MyNamespace]{Name: "Depth", Type: "integer", Description: "The distance from the root.",
				Cell: func(n *hnc.MyNamespace) any { return int64(n.Status.Depth) }},
			table.Column[hnc.MyNamespace]{Name: "Root", Type: "string", Description: "The root of the tree.",
				Cell: func(n *hnc.MyNamespace) any { return n.Status.Root }},
			table.Column[hnc.MyNamespace]{Name: "Status", Type: "string", Description: "Active or Terminating.",
				Cell: func(n *hnc.MyNamespace) any { return n.Status.Phase }},
			table.Column[hnc.MyNamespace]{Name: "Kind", Type: "string", Wide: true, Description: "Full, Subnamespace or External.",
				Cell: func(n *hnc.MyNamespace) any { return string(n.Status.Kind) }},
		),
	}
}

// New returns an empty object.
func (r *REST) New() runtime.Object { return &hnc.MyNamespace{} }

// NewList returns an empty list.
func (r *REST) NewList() runtime.Object { return &hnc.MyNamespaceList{} }

// Destroy does nothing: nothing is stored.
func (r *REST) Destroy() {}

// NamespaceScoped says that the resource is the cluster's.
func (r *REST) NamespaceScoped() bool { return false }

// GetSingularName returns the singular name.
func (r *REST) GetSingularName() string { return "mynamespace" }

// ShortNames returns the short names.
func (r *REST) ShortNames() []string { return []string{"myns"} }

// Get returns a namespace that the requester may see. It fails with NotFound for any other, so that nobody learns which exist.
func (r *REST) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if err := r.picture.wait(ctx); err != nil {
		return nil, err
	}
	subjects, err := subjectsOf(ctx)
	if err != nil {
		return nil, err
	}
	if o := r.picture.get(subjects, name); o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(hnc.Resource("mynamespaces"), name)
}

// List returns all namespaces that the requester may see and that are selected, whatever limit is asked for.
func (r *REST) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	reader, options, err := r.reader(ctx, options)
	if err != nil {
		return nil, err
	}
	if options.Continue != "" {
		return nil, apierrors.NewResourceExpired("lists of mynamespaces are never in parts; list again without continue")
	}
	version, err := parse(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if version != 0 {
		known, latest := r.picture.knows(version)
		if !known || (options.ResourceVersionMatch == metav1.ResourceVersionMatchExact && !latest) {
			return nil, expired(version)
		}
	}
	seen, latest := r.picture.list(reader)
	list := &hnc.MyNamespaceList{ListMeta: metav1.ListMeta{ResourceVersion: format(latest)}, Items: make([]hnc.MyNamespace, len(seen))}
	for i, o := range seen {
		list.Items[i] = *o
	}
	return list, nil
}

// Watch tells each change of what the requester sees. Without a version it begins with what he sees now.
func (r *REST) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	reader, options, err := r.reader(ctx, options)
	if err != nil {
		return nil, err
	}
	version, err := parse(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if version != 0 {
		if known, _ := r.picture.knows(version); !known {
			return nil, expired(version)
		}
	}
	w := &watcher{picture: r.picture, reader: reader, version: version, bookmarks: options.AllowWatchBookmarks, results: make(chan watch.Event, 16)}
	// A version together with initial events only says how new these must be.
	initial := version == 0
	if options.SendInitialEvents != nil {
		initial, w.announce = *options.SendInitialEvents, *options.SendInitialEvents
	}
	w.resumed = version != 0 && !initial
	if !w.resumed {
		w.initial, w.version = r.picture.list(reader)
	}
	if !initial {
		w.initial = nil
	}
	ctx, w.stop = context.WithCancel(ctx)
	go w.run(ctx)
	return w, nil
}

// reader returns who reads, and what he selects, once there is something to read.
func (r *REST) reader(ctx context.Context, options *metainternalversion.ListOptions) (reader, *metainternalversion.ListOptions, error) {
	if err := r.picture.wait(ctx); err != nil {
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
	return reader{subjects: subjects, selects: func(o *hnc.MyNamespace) bool {
		return (label == nil || label.Matches(labels.Set(o.Labels))) && (field == nil || field.Matches(fields.Set{"metadata.name": o.Name}))
	}}, options, nil
}

func subjectsOf(ctx context.Context) ([]access.Subject, error) {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewUnauthorized("mynamespaces are somebody's")
	}
	return access.SubjectsOf(user.GetName(), user.GetGroups()), nil
}

// parse returns the version that a client asks for, 0 for any.
func parse(version string) (int64, error) {
	if version == "" {
		return 0, nil
	}
	v, err := strconv.ParseInt(version, 10, 64)
	if err != nil || v < 0 {
		return 0, apierrors.NewBadRequest("resourceVersion: must be one that a list or watch of mynamespaces returned, or 0")
	}
	return v, nil
}

func expired(version int64) *apierrors.StatusError {
	return apierrors.NewResourceExpired("resourceVersion " + format(version) + " of mynamespaces is too old, or of another server; list again")
}
