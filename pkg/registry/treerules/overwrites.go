package treerules

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sourceindex"
)

// Sources finds the objects that copies of sources would overwrite. Both methods also return the kinds that they cannot
// answer for.
type Sources interface {
	// Overwritten returns the writes to destinations because of a move below the given ancestors, the root first. The
	// modes are those after the request, nil if it changes none.
	Overwritten(ctx context.Context, above []string, after *sourceindex.Modes, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string)
	// OverwrittenBy returns the writes to destinations, each with all its ancestors, after a change of configured
	// kinds.
	OverwrittenBy(ctx context.Context, before, after sourceindex.Modes, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string)
	// Mode returns the mode of a resource for sources in a namespace, given its chain with the namespace itself first.
	Mode(resource schema.GroupResource, chain []string) v1beta1.SynchronizationMode
	// Propagated reports whether objects of a kind are propagated from any namespace of a chain.
	Propagated(resource schema.GroupResource, chain []string) bool
	// ModesKnown reports whether Mode and Propagated know the configured kinds.
	ModesKnown() bool
	// CurrentModes returns the configured modes of kinds.
	CurrentModes() sourceindex.Modes
	// Trees returns spec.propagation of the hierarchies that set it, by their namespaces, as it is at a revision of the
	// store or later, and whether it has been read.
	Trees(ctx context.Context, revision int64) (trees map[string][]hnc.ResourceSpec, known bool, err error)
}

// Overwrites rejects changes after which copies would overwrite other objects. Its checks are advisory: objects that
// are created before the change is made are overwritten.
type Overwrites struct {
	index  *Index
	config *Config
	// changes are those of modes in trees that list objects.
	changes *inflight.Limiter
	// hierarchies returns cached ones. It is nil until SetHierarchies is called.
	hierarchies HierarchyGetter
}

// maxModeChanges and maxModeChangesPerUser bound the memory and the requests that the lists of objects take.
const maxModeChanges, maxModeChangesPerUser = 4, 2

// SetHierarchies sets how cached hierarchies are read, as that of the Authorizer does for stored ones.
func (o *Overwrites) SetHierarchies(get HierarchyGetter) { o.hierarchies = get }

type requestKey struct{}

// WithRequest returns a context in which moves are evaluated with the labels and modes that a Hierarchy or a
// Subnamespace sets in the same request.
func WithRequest(ctx context.Context, object runtime.Object) context.Context {
	return context.WithValue(ctx, requestKey{}, object)
}

// modesAfter returns the modes after the request, nil if it changes none.
func (o *Overwrites) modesAfter(ctx context.Context) *sourceindex.Modes {
	modes := o.config.Sources.CurrentModes()
	h, ok := ctx.Value(requestKey{}).(*hnc.Hierarchy)
	if !ok || slices.Equal(h.Spec.Propagation, modes.Trees[h.Namespace]) {
		return nil
	}
	return ptr.To(modes.With(h.Namespace, h.Spec.Propagation))
}

// validateMove rejects a move that would overwrite objects in the namespace and below it (docs/spec/hnc.md 2.4, H11).
// It comes last, so that only users allowed to move the namespace learn their names. The field is where the client has
// named the namespace or its parent.
func (o *Overwrites) validateMove(ctx context.Context, reject rejection, field string, namespace *corev1.Namespace, chain []string) error {
	requester, err := o.requester(ctx)
	if err != nil || requester == nil || len(chain) == 0 {
		return err
	}
	above := slices.Clone(chain)
	slices.Reverse(above)
	destinations := o.movedDestinations(ctx, o.index.Subtree(namespace), o.index.Chain(namespace.Name), chain)
	writes, unknown := o.config.Sources.Overwritten(ctx, above, o.modesAfter(ctx), destinations)
	warnUnknown(ctx, unknown)
	if len(writes) == 0 {
		return nil
	}
	return reject.conflict("%s: what comes from %q and its ancestors would overwrite objects of the same names. Rename or delete these first, or have them kept "+
		"by onConflict: Keep for their kinds:\n%s", field, chain[0], o.describe(ctx, requester, writes, func(w copies.Write) string {
		line := fmt.Sprintf("Namespace %q: %s (%s)", w.Namespace, w.Name, w.Kind.GroupVersion().WithKind(w.Kind.Kind))
		if !slices.Contains(above, w.From()) {
			line += fmt.Sprintf(", by what namespace %q propagates from then on", w.From())
		}
		return line
	}))
}

// ValidateConfiguration rejects a configuration that starts to propagate kinds if objects would be overwritten
// (docs/spec/hnc.md 2.6, K7).
func (o *Overwrites) ValidateConfiguration(ctx context.Context, before, after hnc.HNCConfigurationSpec) error {
	trees := func() map[string][]hnc.ResourceSpec { return o.config.Sources.CurrentModes().Trees }
	return o.validateKinds(ctx, newRejection(ctx, hnc.ConfigurationName), "spec.resources", nil, o.index.destinations(), func() (sourceindex.Modes, sourceindex.Modes) {
		return sourceindex.Modes{Cluster: before.Resources, OnConflict: before.OnConflict, Trees: trees()},
			sourceindex.Modes{Cluster: after.Resources, OnConflict: after.OnConflict, Trees: trees()}
	})
}

// ValidatePropagation does the same for spec.propagation in the Hierarchy of a namespace, which affects sources in the
// namespace and below it.
func (o *Overwrites) ValidatePropagation(ctx context.Context, namespace string, before, after []hnc.ResourceSpec) error {
	changes := o.changes
	if slices.Equal(before, after) {
		changes = nil // Nothing is listed.
	}
	return o.validateKinds(ctx, newRejection(ctx, hnc.Singleton), "spec.propagation", changes, o.index.destinationsBelow(namespace), func() (sourceindex.Modes, sourceindex.Modes) {
		known := o.config.Sources.CurrentModes()
		return known.With(namespace, before), known.With(namespace, after)
	})
}

// validateKinds rejects a change of modes. What it lists is limited by changes, if it is not nil.
func (o *Overwrites) validateKinds(ctx context.Context, reject rejection, field string, changes *inflight.Limiter, destinations iter.Seq[copies.Destination],
	configured func() (before, after sourceindex.Modes),
) error {
	requester, err := o.requester(ctx)
	if err != nil || requester == nil {
		return err
	}
	if _, known, _ := o.config.Sources.Trees(ctx, 0); !known {
		return modesUnread()
	}
	release := func() {}
	if changes != nil {
		if release, err = changes.Acquire(ctx); err != nil {
			return err
		}
	}
	defer release()
	before, after := configured()
	writes, unknown := o.config.Sources.OverwrittenBy(ctx, before, after, destinations)
	release()
	warnUnknown(ctx, unknown)
	if len(writes) == 0 {
		return nil
	}
	return reject.conflict("%s: objects would overwrite others of the same names. Rename or delete these first, or have them kept by "+
		"onConflict: Keep:\n%s", field, o.describe(ctx, requester, writes, func(w copies.Write) string {
		return fmt.Sprintf("Object %q in namespace %q would overwrite the one in %q (%s)", w.Name, w.From(), w.Namespace,
			w.Kind.GroupVersion().WithKind(w.Kind.Kind))
	}))
}

// requester returns the requester if the checks apply, nil if not: the propagator repeats what others were authorized
// to do.
func (o *Overwrites) requester(ctx context.Context) (user.Info, error) {
	requester, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewInternalError(accessreview.ErrNoUser)
	}
	if o.config.Sources == nil || accessreview.ByPropagator(ctx) {
		return nil, nil
	}
	return requester, nil
}

// warnUnknown warns the client about kinds that could not be checked.
func warnUnknown(ctx context.Context, unknown []string) {
	if len(unknown) > 0 {
		warning.AddWarning(ctx, "", fmt.Sprintf("it is not known whether this overwrites objects of: %s. If it does, they get events of reason %s",
			strings.Join(unknown, ", "), hnc.EventOverwritten))
	}
}
