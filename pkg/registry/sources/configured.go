package sources

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
)

// listTimeout is how long a request waits, at most, for the objects of kinds that it begins to propagate.
const listTimeout = 10 * time.Second

// OverwrittenBy returns what would be overwritten in the destinations, which have all their ancestors, because sources begin to be propagated when
// something else is said about kinds; and the kinds of which this is not known. Objects of such kinds are listed now. What was propagated
// before, and is to overwrite from now on what was kept, has been asked to. Source: spec/hnc.md 2.6, K7.
func (s *Sources) OverwrittenBy(ctx context.Context, before, after Said, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string) {
	since := resourcespec.RequestTime(ctx)
	old, _ := s.Treatments(since, before)
	treatments, unknown := s.Treatments(since, after)
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	for _, t := range treatments {
		var was Treatment // an empty mode propagates nothing
		if i := slices.IndexFunc(old, func(o Treatment) bool { return o.Kind.GroupResource() == t.Kind.GroupResource() }); i >= 0 {
			was = old[i]
		}
		if !t.begins(was) {
			continue
		}
		index, err := s.list(ctx, t.Kind)
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("%s (%v)", t.Kind.GroupResource(), err))
			continue
		}
		for d := range destinations {
			chain := upward(d.Ancestors)
			index.PolicyOf = func(namespace string) copies.Policy { return t.Of(chain(namespace)) }
			for o := range index.In(d.Namespace) {
				if w := index.Decide(d, o.Name); w != nil && w.Overwrites() && !propagated(was.Of(chain(w.Source.Namespace))) {
					writes = append(writes, *w)
				}
			}
		}
	}
	return writes, unknown
}

// begins says whether there may be sources that are propagated, and have not been as was.
func (t Treatment) begins(was Treatment) bool {
	begin := propagated(t.Cluster) && !propagated(was.Cluster)
	for namespace, policy := range t.Trees {
		old, said := was.Trees[namespace]
		begin = begin || (propagated(policy) && (!said || !propagated(old)))
	}
	for namespace, old := range was.Trees {
		// Where nothing is said any more, what is said above holds.
		_, said := t.Trees[namespace]
		begin = begin || (!said && !propagated(old))
	}
	return begin
}

// upward returns the chains of ancestors, the root first, each with itself first.
func upward(ancestors []string) func(namespace string) []string {
	return func(namespace string) []string {
		chain := slices.Clone(ancestors[:slices.Index(ancestors, namespace)+1])
		slices.Reverse(chain)
		return chain
	}
}

// list returns an index of the objects of a kind that there are now.
func (s *Sources) list(ctx context.Context, kind copies.Kind) (*copies.Index, error) {
	index := copies.NewIndex(kind)
	client := s.Metadata.Resource(kind.GroupVersionResource)
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.List(ctx, selected(kind, o))
	})
	return index, pages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		m, ok := object.(*metav1.PartialObjectMetadata)
		if !ok {
			return fmt.Errorf("not metadata: %T", object)
		}
		index.Set(copies.NewSource(m, kind, &s.Rules))
		return nil
	})
}
