package propagator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// trouble is what can't be done with the objects of a kind. It is told by the conditions of the configuration.
type trouble struct {
	// read says why the objects can't be read, "" if they can.
	read string
	// write holds why copies can't be written or removed, by namespace and name.
	write map[string]map[string]string
}

// String returns what there is to tell, "" if there is nothing. It is the same for the same trouble.
func (t trouble) String() string {
	switch {
	case t.read != "":
		return t.read
	case len(t.write) == 0:
		return ""
	}
	n := 0
	for _, names := range t.write {
		n += len(names)
	}
	names := t.write[slices.Min(slices.Collect(maps.Keys(t.write)))]
	first := names[slices.Min(slices.Collect(maps.Keys(names)))]
	if n == 1 {
		return first
	}
	return fmt.Sprintf("%s; and %d more copies of the kind", first, n-1)
}

// remedy says what to do about a lack of rights. Other refusals have the same code, such as that of a quota; an authorizer says what
// somebody can't do.
func remedy(kind copies.Kind, err error) string {
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), " cannot ") {
		return ""
	}
	return fmt.Sprintf("; to let it be propagated, label a ClusterRole that allows get, list, watch, create, update and delete for %s with %s: \"true\", "+
		"or remove the entry", kind.GroupResource(), hnc.LabelAggregateToPropagator)
}

// reading records the result of a request for the objects of a kind.
func (p *Propagator) reading(place int, index *copies.Index, err error) {
	if errors.Is(err, context.Canceled) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	var text string
	if err != nil {
		text = fmt.Sprintf("%s can't be read: %v%s", index.Kind.GroupResource(), err, remedy(index.Kind, err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.kinds[place]
	if k.index != index || k.trouble.read == text {
		return
	}
	k.trouble.read = text
	if text != "" {
		k.settled()
	}
	p.configurationChanged()
}

// refusedWrite records that a copy can't be written.
func (p *Propagator) refusedWrite(place int, w copies.Write, err error) {
	p.unwritten(place, w, fmt.Sprintf(
		"can't %s %s %q in namespace %q: %v%s", w.Verb, w.Kind.GroupResource(), w.Name, w.Namespace, err, remedy(w.Kind, err)))
}

// blocked records that a terminating object is where a copy should be, or is a copy that should be gone. It is in effect as long as somebody's
// finalizers keep it, so nobody must be able to do that unseen.
func (p *Propagator) blocked(place int, w copies.Write) {
	why := "the source has been removed"
	if w.Source != nil {
		why = fmt.Sprintf("the one from namespace %q can't take its place", w.Source.Namespace)
	}
	if p.unwritten(place, w, fmt.Sprintf("%s %q in namespace %q is being deleted and is kept by its finalizers, so it stays in effect although %s; "+
		"remove the finalizers", w.Kind.GroupResource(), w.Name, w.Namespace, why)) {
		p.reportBlocked(w)
	}
}

// unwritten records why a copy is not as it should be, and returns whether that is new.
func (p *Propagator) unwritten(place int, w copies.Write, why string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.kinds[place]
	if !k.synced || k.trouble.write[w.Namespace][w.Name] == why {
		return false
	}
	if k.trouble.write == nil {
		k.trouble.write = map[string]map[string]string{}
	}
	if k.trouble.write[w.Namespace] == nil {
		k.trouble.write[w.Namespace] = map[string]string{}
	}
	k.trouble.write[w.Namespace][w.Name] = why
	p.configurationChanged()
	return true
}

// overcome forgets that a copy couldn't be written. The lock must be held.
func (p *Propagator) overcome(place int, namespace, name string) {
	write := p.kinds[place].trouble.write
	if _, ok := write[namespace][name]; !ok {
		return
	}
	delete(write[namespace], name)
	if len(write[namespace]) == 0 {
		delete(write, namespace)
	}
	p.configurationChanged()
}

// overcomeOthers forgets that copies of a namespace couldn't be written, but for those that are tried again.
func (p *Propagator) overcomeOthers(namespace string, tried map[int]sets.Set[string]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for place, k := range p.kinds {
		for name := range k.trouble.write[namespace] {
			if !tried[place].Has(name) {
				p.overcome(place, namespace, name)
			}
		}
	}
}
