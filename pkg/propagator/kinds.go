package propagator

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// kind is a propagated kind, and what is known of its objects. It keeps its place, which work names, when it is watched no more. The
// propagator's lock guards it.
type kind struct {
	// policies say how its sources are treated; known remembers that by namespace, and is nil while all are treated alike.
	policies copies.Policies
	known    *sync.Map
	// index is a new one each time that the kind is watched: what a watch that was ended still brings finds it changed.
	index *copies.Index
	// stop ends the watch; nil while there is none.
	stop context.CancelFunc
	// synced says that the index is complete. Before, nothing is decided.
	synced bool
	// settled is called, maybe more than once, when it is known whether the objects can be read.
	settled func()
	trouble trouble
	// kept holds, by their UIDs, the local objects that are known to be kept, with the sources that they stand in the way of.
	kept map[types.UID]types.UID
}

// placeOf returns the place of a kind, a new one if it is new. The lock must be held.
func (p *Propagator) placeOf(resource schema.GroupResource) int {
	place, ok := p.places[resource]
	if !ok {
		place = len(p.kinds)
		p.places[resource] = place
		p.kinds = append(p.kinds, &kind{index: copies.NewIndex(copies.Kind{GroupVersionResource: resource.WithVersion("")})})
	}
	return place
}

// apply makes the watched kinds those that the configuration and the trees name, with their policies. The lock must be held. Kinds that
// are new are waited for before anything is written if first is set.
func (p *Propagator) apply(ctx context.Context, entries []configuration.Entry, trees configuration.Trees, first bool) {
	wanted := map[int]bool{}
	for _, t := range treatments(entries, trees) {
		place := p.placeOf(t.kind.GroupResource())
		k := p.kinds[place]
		if t.ignored() {
			continue
		}
		wanted[place] = true
		if k.stop != nil && k.index.Kind != t.kind {
			p.unwatchKind(place)
		}
		if k.stop == nil {
			k.index = copies.NewIndex(t.kind)
			p.treat(k, t.Policies)
			p.watchKind(ctx, place, first)
			continue
		}
		p.treatOtherwise(place, t.Policies)
	}
	for place, k := range p.kinds {
		if !wanted[place] && k.stop != nil {
			p.unwatchKind(place)
		}
	}
}

// unwatchKind ends the watch of a kind and forgets its objects. The lock must be held.
func (p *Propagator) unwatchKind(place int) {
	k := p.kinds[place]
	for o := range k.index.All() {
		p.observeHeld(place, o, nil)
	}
	k.stop()
	k.settled()
	delete(p.versions, k.index.Kind.GroupResource().String())
	*k = kind{index: copies.NewIndex(k.index.Kind)}
}

// startWatch prepares a kind for its watch, and returns the context to watch in. The lock must be held.
func (p *Propagator) startWatch(ctx context.Context, k *kind, first bool) context.Context {
	ctx, k.stop = context.WithCancel(ctx)
	k.synced, k.trouble, k.settled = false, trouble{}, func() {}
	if first {
		p.unsynced.Add(1)
		k.settled = sync.OnceFunc(p.unsynced.Done)
	}
	return ctx
}

// completed records that a kind's index is complete. The lock must be held.
func (p *Propagator) completed(place int) {
	k := p.kinds[place]
	k.settled()
	if !k.synced {
		k.synced = true
		p.evaluate(place)
	}
}

// evaluate queues all that may be different now that a kind is known or is treated in another way. The lock must be held.
func (p *Propagator) evaluate(place int) {
	k := p.kinds[place]
	if !p.leading || !k.synced {
		return
	}
	for _, namespace := range p.tree.Names() {
		p.bulk.Add(queue.Key{Class: queue.Destination, Namespace: namespace})
	}
	p.remark(place)
	p.configurationChanged()
}

// remark queues the sources about which there is something to tell. The lock must be held.
func (p *Propagator) remark(place int) {
	for o := range p.kinds[place].index.All() {
		if o.Remarkable(nil) {
			p.changedSource(place, o.Namespace, o.Name)
		}
	}
}

// kindName returns the name of the kind at a place, such as RoleBinding.
func (p *Propagator) kindName(place int) string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.kinds[place].index.Kind.Kind
}
