package propagator

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// start begins to lead: it looks at everything once, and queues what is not as it should be. After a restart that is next to nothing, and a
// change that is made meanwhile need not wait behind all that is right.
func (p *Propagator) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leading = true
	now := metav1.Now()
	for _, name := range p.tree.Names() {
		// At once, lest the configuration tells of some of them only for a while.
		p.summary.Set(name, namespaces.Problems(p.tree, name))
		p.startIn(name, now)
	}
	for _, key := range p.tree.SubnamespaceKeys() {
		p.asked(key)
	}
	for place := range p.kinds {
		p.remark(place)
	}
	p.policiesMoved()
	p.configurationChanged()
	p.Metrics.Namespaces(p.tree.Len())
}

// startIn queues what is not right in a namespace. The lock must be held.
func (p *Propagator) startIn(name string, now metav1.Time) {
	for _, key := range p.tree.Missing(name) {
		p.asked(key)
	}
	if len(namespaces.LabelChanges(p.tree, name))+len(namespaces.AnnotationChanges(p.tree, name)) > 0 {
		p.bulk.Add(queue.Key{Class: queue.Namespace, Namespace: name})
	}
	if namespaces.Status(p.tree, name, now) != nil {
		p.bulk.AddAfter(queue.Key{Class: queue.Status, Namespace: name}, p.StatusWindow)
	}
	if p.anyCopies(name) {
		p.moves++
		p.moving[name] = p.moves
		p.bulk.Add(queue.Key{Class: queue.Destination, Namespace: name})
	}
}

// anyCopies says whether any copies in a namespace are not as they should be. The lock must be held.
func (p *Propagator) anyCopies(name string) bool {
	if p.tree.Frozen(name) {
		return false
	}
	d := namespaces.Inheriting(p.tree, name)
	d.Labels = sync.OnceValue(d.Labels)
	for _, k := range p.kinds {
		if !k.synced {
			continue
		}
		if removals, writes := k.index.DecideAll(d); len(removals)+len(writes) > 0 {
			return true
		}
	}
	return false
}
