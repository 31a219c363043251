package tree

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sources"
)

// Sources knows what would be overwritten. Both methods also name the kinds of which they don't know it.
type Sources interface {
	// Overwritten tells it of destinations that get sources from these ancestors, the root first.
	Overwritten(above []string, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string)
	// OverwrittenBy tells it of destinations with all their ancestors when something else is said about kinds.
	OverwrittenBy(ctx context.Context, before, after sources.Modes, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string)
	// Mode is how sources of a resource are propagated, as the nearest namespace of their chain says, themselves first.
	Mode(resource schema.GroupResource, chain []string) v1beta1.SynchronizationMode
	// Known is what is said about kinds now.
	CurrentModes() sources.Modes
}

// checkMove refuses a move that would overwrite objects in the namespace and below it (spec/hnc.md 2.4, H11). It comes last, so that only
// who may move the namespace learns their names. It is advisory: objects may come until the move is made, and are then overwritten.
func (t *Tree) checkMove(ctx context.Context, refused refusals, namespace *corev1.Namespace, chain []string) error {
	requester, err := t.bound(ctx)
	if err != nil || requester == nil || len(chain) == 0 {
		return err
	}
	above := slices.Clone(chain)
	slices.Reverse(above)
	writes, unknown := t.Sources.Overwritten(above, moved(t.Subtree(namespace), chain))
	warnUnknown(ctx, unknown)
	if len(writes) == 0 {
		return nil
	}
	return refused.conflict("spec.parent: what comes from %q and its ancestors would overwrite objects of the same names. Rename or delete these first, or have them kept "+
		"by onConflict: Keep for their kinds:\n%s", chain[0], t.lines(ctx, requester, writes, func(w copies.Write) string {
		return fmt.Sprintf("Namespace %q: %s (%s)", w.Namespace, w.Name, w.Kind.GroupVersion().WithKind(w.Kind.Kind))
	}))
}

// CheckConfiguration refuses a configuration that begins to propagate kinds of which objects would be overwritten (spec/hnc.md 2.6, K7). It is
// advisory as well.
func (t *Tree) CheckConfiguration(ctx context.Context, before, after hnc.HNCConfigurationSpec) error {
	trees := func() map[string][]hnc.ResourceSpec { return t.Sources.CurrentModes().Trees }
	return t.checkSaid(ctx, refusal(ctx, hnc.ConfigurationName), "spec.resources", t.destinations(), func() (sources.Modes, sources.Modes) {
		return sources.Modes{Cluster: before.Resources, OnConflict: before.OnConflict, Trees: trees()},
			sources.Modes{Cluster: after.Resources, OnConflict: after.OnConflict, Trees: trees()}
	})
}

// CheckPropagation does so with what the hierarchy of a namespace says about kinds. Only sources in it and below it are concerned.
func (t *Tree) CheckPropagation(ctx context.Context, namespace string, before, after []hnc.ResourceSpec) error {
	below := func(yield func(copies.Destination) bool) {
		for d := range t.destinations() {
			if slices.Contains(d.Ancestors, namespace) && !yield(d) {
				return
			}
		}
	}
	return t.checkSaid(ctx, refusal(ctx, hnc.Singleton), "spec.propagation", below, func() (sources.Modes, sources.Modes) {
		known := t.Sources.CurrentModes()
		return known.With(namespace, before), known.With(namespace, after)
	})
}

func (t *Tree) checkSaid(ctx context.Context, refused refusals, field string, destinations iter.Seq[copies.Destination], said func() (before, after sources.Modes)) error {
	requester, err := t.bound(ctx)
	if err != nil || requester == nil {
		return err
	}
	before, after := said()
	writes, unknown := t.Sources.OverwrittenBy(ctx, before, after, destinations)
	warnUnknown(ctx, unknown)
	if len(writes) == 0 {
		return nil
	}
	return refused.conflict("%s: objects would overwrite others of the same names. Rename or delete these first, or have them kept by "+
		"onConflict: Keep:\n%s", field, t.lines(ctx, requester, writes, func(w copies.Write) string {
		return fmt.Sprintf("Object %q in namespace %q would overwrite the one in %q (%s)", w.Name, w.Source.Namespace, w.Namespace,
			w.Kind.GroupVersion().WithKind(w.Kind.Kind))
	}))
}

// bound returns the requester if the rules about overwriting bind them; nil if not: the propagator repeats what others were allowed to say.
func (t *Tree) bound(ctx context.Context) (user.Info, error) {
	requester, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewInternalError(errNoUser)
	}
	if t.Sources == nil || requester.GetName() == hnc.PropagatorUser {
		return nil, nil
	}
	return requester, nil
}

// warnUnknown tells the client what could not be checked.
func warnUnknown(ctx context.Context, unknown []string) {
	if len(unknown) > 0 {
		warning.AddWarning(ctx, "", fmt.Sprintf("it is not known whether this overwrites objects of: %s. If it does, they get events of reason %s",
			strings.Join(unknown, ", "), hnc.EventOverwritten))
	}
}

const (
	// maxLines is how many objects a refusal names.
	maxLines = 20
	// maxAsked is how many rights are asked for to find these.
	maxAsked = 200
)

// lines describes writes to a requester who may list the objects that are overwritten. Of others it says that there are some, but not
// how many and where.
func (t *Tree) lines(ctx context.Context, requester user.Info, writes []copies.Write, describe func(copies.Write) string) string {
	type place struct{ namespace, group, resource string }
	allowed := map[place]bool{}
	var lines []string
	hidden := sets.New[string]()
	more := false
	for _, w := range writes {
		at := place{w.Namespace, w.Kind.Group, w.Kind.Resource}
		may, asked := allowed[at]
		if !asked {
			if len(allowed) == maxAsked {
				more = true
				break
			}
			may = t.mayList(ctx, requester, w)
			allowed[at] = may
		}
		switch {
		case !may:
			hidden.Insert(w.Kind.GroupResource().String())
		case len(lines) == maxLines:
			more = true
		default:
			lines = append(lines, describe(w))
		}
	}
	if more {
		lines = append(lines, "and more")
	}
	if len(hidden) > 0 {
		lines = append(lines, fmt.Sprintf("objects that you may not list, of: %s", strings.Join(sets.List(hidden), ", ")))
	}
	return strings.Join(lines, "\n")
}

func (t *Tree) mayList(ctx context.Context, requester user.Info, w copies.Write) bool {
	decision, _, err := t.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: requester, Verb: "list", Namespace: w.Namespace, APIGroup: w.Kind.Group, APIVersion: w.Kind.Version, Resource: w.Kind.Resource,
		ResourceRequest: true,
	})
	return err == nil && decision == authorizer.DecisionAllow
}
