package propagator

import (
	"runtime"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// start begins to lead: it looks at everything once, and queues what is not as it should be. After a restart that is next to nothing, and a
// change that is made meanwhile need not wait behind all that is right.
func (p *Propagator) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leading = true
	for _, wrong := range p.lookAtAll() {
		p.queueWrong(wrong)
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

// wrong says what is not as it should be in a namespace.
type wrong struct {
	name                   string
	labels, status, copies bool
	missing                []tree.Key
}

// lookAtAll returns in which namespaces something is wrong. Nothing else is done meanwhile, so all processors look. The lock must be held.
func (p *Propagator) lookAtAll() []wrong {
	names, now := p.tree.Names(), metav1.Now()
	found := make([][]wrong, runtime.GOMAXPROCS(0))
	var looking sync.WaitGroup
	for i := range found {
		looking.Go(func() {
			for at := i; at < len(names); at += len(found) {
				if w := p.lookAt(names[at], now); w.labels || w.status || w.copies || len(w.missing) > 0 {
					found[i] = append(found[i], w)
				}
			}
		})
	}
	looking.Wait()
	return slices.Concat(found...)
}

func (p *Propagator) lookAt(name string, now metav1.Time) wrong {
	// At once, lest the configuration tells of some namespaces only for a while.
	p.summary.Set(name, namespaces.Problems(p.tree, name))
	return wrong{
		name:    name,
		labels:  len(namespaces.LabelChanges(p.tree, name))+len(namespaces.AnnotationChanges(p.tree, name)) > 0,
		status:  namespaces.Status(p.tree, name, now) != nil,
		copies:  !p.tree.Frozen(name) && !p.copiesRight(name),
		missing: p.tree.Missing(name),
	}
}

func (p *Propagator) copiesRight(name string) bool {
	d := namespaces.Inheriting(p.tree, name)
	d.Labels = sync.OnceValue(d.Labels)
	for _, k := range p.kinds {
		if k.synced && !k.index.Right(d) {
			return false
		}
	}
	return true
}

func (p *Propagator) queueWrong(w wrong) {
	for _, key := range w.missing {
		p.asked(key)
	}
	if w.labels {
		p.bulk.Add(queue.Key{Class: queue.Namespace, Namespace: w.name})
	}
	if w.status {
		p.bulk.AddAfter(queue.Key{Class: queue.Status, Namespace: w.name}, p.StatusWindow)
	}
	if w.copies {
		p.moves++
		p.moving[w.name] = p.moves
		p.bulk.Add(queue.Key{Class: queue.Destination, Namespace: w.name})
	}
}
