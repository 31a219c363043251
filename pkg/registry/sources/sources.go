// Package sources knows the objects of all propagated kinds that are no copies, by their metadata alone, and says which of them would be
// overwritten by what is above them. What it knows may be stale or incomplete: it serves rules that are advisory.
package sources

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
)

// Config is what Sources need.
type Config struct {
	// Metadata reads the objects.
	Metadata metadata.Interface
	// Mapper knows the kinds of the cluster.
	Mapper *kinds.Mapper
	// Rules say what is not copied, whatever its kind. They are the propagator's.
	Rules copies.Rules
}

// Sources is an index of sources. It is safe for concurrent use; Run is for one call.
type Sources struct {
	Config
	// resolve holds a token while the kinds have to be looked for.
	resolve chan struct{}
	// outdated says that what the mapper knows is not true any more.
	outdated atomic.Bool

	mu sync.RWMutex
	// said is what is said about kinds, once it is known; resolved says that these have been looked for.
	said                               Said
	clusterKnown, treesKnown, resolved bool
	// kinds are the enforced kinds, then the others. problems say why some are not among them.
	kinds    []*kind
	problems []string
}

// kind is a kind that is watched. Its Sources' lock guards it.
type kind struct {
	Treatment
	index *copies.Index
	stop  context.CancelFunc
	// synced says that the index is complete.
	synced bool
}

// New returns Sources that know nothing until Run has read it.
func New(config Config) *Sources {
	return &Sources{Config: config, resolve: make(chan struct{}, 1)}
}

// Overwritten returns what would be overwritten in the destinations, in their order, by sources in their ancestors; and the kinds of which
// this is not known. All destinations are below the namespaces above, whose sources alone matter; the root is the first.
func (s *Sources) Overwritten(above []string, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var relevant []contenders
	for _, k := range s.kinds {
		if !k.copies() {
			continue
		}
		if !k.synced {
			unknown = append(unknown, k.index.Kind.GroupResource().String())
			continue
		}
		// Only what is above matters, so a copy of the index suffices, with the policies of these namespaces.
		index := *k.index
		index.PolicyOf = func(namespace string) copies.Policy { return k.Of(upward(above)(namespace)) }
		c := contenders{&index, map[string]bool{}}
		for _, namespace := range above {
			for o := range k.index.In(namespace) {
				if o.Fit() {
					c.names[o.Name] = true
				}
			}
		}
		if len(c.names) > 0 {
			relevant = append(relevant, c)
		}
	}
	if !s.resolved {
		unknown = append(unknown, "the configured kinds")
	}
	if len(relevant) == 0 {
		return nil, append(unknown, s.problems...)
	}
	for d := range destinations {
		for _, c := range relevant {
			writes = append(writes, c.overwritten(d)...)
		}
	}
	return writes, append(unknown, s.problems...)
}

// contenders are the names of the sources of one kind that may be copied to a destination.
type contenders struct {
	index *copies.Index
	names map[string]bool
}

// overwritten returns what is overwritten in one destination, in the order of the names.
func (c contenders) overwritten(d copies.Destination) []copies.Write {
	var writes []copies.Write
	for o := range c.index.In(d.Namespace) {
		if !c.names[o.Name] {
			continue
		}
		if w := c.index.Decide(d, o.Name); w != nil && w.Overwrites() {
			writes = append(writes, *w)
		}
	}
	slices.SortFunc(writes, func(a, b copies.Write) int { return strings.Compare(a.Name, b.Name) })
	return writes
}

func propagated(p copies.Policy) bool {
	return p.Mode == v1beta1.Propagate || p.Mode == v1beta1.AllowPropagate
}
