package sourceindex

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/pager"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
)

// listTimeout bounds how long a request waits for the objects of newly propagated kinds.
const listTimeout = 10 * time.Second

// OverwrittenBy returns the local objects in the destinations that sources would overwrite because a change of modes
// starts to propagate them, and the kinds for which this is unknown. The destinations include all their ancestors.
// Objects of the changed kinds are listed now, only where the destinations can get them from if these are few. Sources
// that were propagated before are not reported: changing their conflict policy to Overwrite is an explicit request.
// Source: docs/spec/hnc.md 2.6, K7.
func (s *Sources) OverwrittenBy(ctx context.Context, before, after Modes, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string) {
	since := resourcespec.RequestTime(ctx)
	old, _ := s.KindPolicies(ctx, since, before)
	policies, unknown := s.KindPolicies(ctx, since, after)
	known := byResource(old)
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	namespaces := sync.OnceValue(func() []string { return concerned(destinations) })
	for _, p := range policies {
		was := known[p.Kind.GroupResource()] // an empty mode propagates nothing
		if !startsPropagating(was, p.Policies) {
			continue
		}
		index, err := s.list(ctx, p.Kind, namespaces())
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("%s (%v)", p.Kind.GroupResource(), err))
			continue
		}
		for d := range destinations {
			for _, w := range (candidates{Policies: p.Policies, index: index}).overwritten(d) {
				if !was.Of(chainFrom(d.Ancestors)(w.From())).Copies() {
					writes = append(writes, w)
				}
			}
		}
	}
	return writes, unknown
}

// AllOverwritten returns the local objects in the destinations that any sources would overwrite by these modes, also
// those of the kinds that are always propagated, and the kinds for which this is unknown. The destinations include all
// their ancestors.
func (s *Sources) AllOverwritten(ctx context.Context, modes Modes, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string) {
	policies, unknown := s.KindPolicies(ctx, time.Now(), modes)
	var roles *copies.Index
	for _, p := range policies {
		if !p.Copies() {
			continue
		}
		index, err := s.list(ctx, p.Kind, []string{metav1.NamespaceAll})
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("%s (%v)", p.Kind.GroupResource(), err))
			continue
		}
		switch p.Kind {
		case copies.Roles:
			roles = index
		case copies.RoleBindings:
			index.Roles = roles // they come first
		}
		for d := range destinations {
			writes = append(writes, candidates{Policies: p.Policies, index: index}.overwritten(d)...)
		}
	}
	return writes, unknown
}

// startsPropagating reports whether a change of policies may start to propagate any source.
func startsPropagating(before, after modes.Policies) bool {
	begin := after.Cluster.Copies() && !before.Cluster.Copies()
	for namespace, policy := range after.Trees {
		old, found := before.Trees[namespace]
		begin = begin || (policy.Copies() && (!found || !old.Copies()))
	}
	for namespace, old := range before.Trees {
		// Namespaces without an entry inherit the entry above.
		_, found := after.Trees[namespace]
		begin = begin || (!found && !old.Copies())
	}
	return begin
}

// chainFrom returns the function from an ancestor to its chain, itself first. ancestors starts with the root.
func chainFrom(ancestors []string) func(namespace string) []string {
	return func(namespace string) []string {
		chain := slices.Clone(ancestors[:slices.Index(ancestors, namespace)+1])
		slices.Reverse(chain)
		return chain
	}
}

// fewNamespaces is the number of namespaces up to which these are listed one by one, and not the whole cluster.
const fewNamespaces = 50

// concerned returns the destinations and their ancestors, or all namespaces if these are many.
func concerned(destinations iter.Seq[copies.Destination]) []string {
	found := sets.New[string]()
	for d := range destinations {
		if found.Insert(d.Namespace).Insert(d.Ancestors...); found.Len() > fewNamespaces {
			return []string{metav1.NamespaceAll}
		}
	}
	return sets.List(found)
}

// pageObjects is the number of objects in a page. Each may have more than a megabyte of metadata.
const pageObjects = 50

// list returns an index of the current objects of a kind in the namespaces.
func (s *Sources) list(ctx context.Context, kind copies.Kind, namespaces []string) (*copies.Index, error) {
	index := copies.NewIndex(kind)
	for _, namespace := range namespaces {
		from := s.reader(kind, namespace)
		pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return from.list(ctx, sourcesOnly(kind, o))
		})
		pages.PageSize, pages.PageBufferSize = pageObjects, 0
		err := pages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
			index.Set(s.record(kind, object))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return index, nil
}
