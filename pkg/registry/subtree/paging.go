package subtree

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kjson "sigs.k8s.io/json"
)

const (
	// smallPage is the limit of a page whose objects have exceeded the memory with a larger one. Those of etcd have 1.5
	// MiB at most, but up to six times as much as JSON, in which "<" is \u003c.
	smallPage = 16
	// pageStep is by how much later limits are smaller, and larger again.
	pageStep = 4
	// namespacePage is a number of namespaces whose metadata is read at a time: few, because many watches of a user may
	// start at the same time.
	namespacePage = 100
)

// fewer returns the limit for a page whose objects have exceeded the memory.
func fewer(limit int64) int64 {
	if limit > smallPage {
		return smallPage
	}
	return max(limit/pageStep, 1)
}

// more returns the limit for the page after one of a number of bytes: most, or less while objects like these would
// exceed the memory.
func (m *memory) more(limit, most, bytes int64) int64 {
	if bytes*pageStep > m.each {
		return limit
	}
	return min(limit*pageStep, most)
}

// eachPage calls use with the pages of a namespace at a revision, "" for the whole cluster. A page has most objects, or
// fewer if these exceed the memory, from which the bytes of one page are taken at a time.
func (r reader) eachPage(ctx context.Context, namespace, resourceVersion string, most int64, use func(*page) error) error {
	defer r.memory.giveBack(0)
	at := continueToken{ResourceVersion: resourceVersion, After: namespace}
	for limit := most; ; r.memory.giveBack(0) {
		pages, err := r.listParallel(ctx, []string{namespace}, func(ctx context.Context, _ int) (*page, error) {
			return r.listAt(ctx, namespace, resourceVersion, limit, at.Continue)
		})
		if errors.Is(err, errTooLarge) {
			if limit == 1 {
				return r.tooLarge(ctx, namespace, at)
			}
			limit = fewer(limit)
			continue
		}
		if err != nil {
			return err
		}
		p := pages[0]
		if err := use(p); err != nil || p.Metadata.Continue == "" {
			return err
		}
		at.Continue, limit = p.Metadata.Continue, r.memory.more(limit, most, r.memory.bytes())
	}
}

// tooLarge returns an error about the next object of a namespace, which exceeds the memory.
func (r reader) tooLarge(ctx context.Context, namespace string, at continueToken) error {
	r.memory.giveBack(0)
	r.output.accept = metadataList
	p, err := r.listAt(ctx, namespace, at.ResourceVersion, 1, at.in(namespace))
	if err != nil {
		return err
	}
	if len(p.Items) != 1 {
		return errTooLarge // the server of the kind has no pages
	}
	var id identity
	if err := kjson.UnmarshalCaseSensitivePreserveInts(p.Items[0], &id); err != nil {
		return err
	}
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("%s %q in namespace %q has more than %d MiB as JSON; make it smaller, or exclude it with a selector",
		r.kind.GroupResource(), id.Metadata.Name, namespace, maxListMemory>>20))
}
