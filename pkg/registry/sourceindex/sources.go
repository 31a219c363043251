// Package sourceindex indexes the sources of all propagated kinds by their metadata, and finds the local objects that
// they would overwrite. The index may be stale or incomplete, so only advisory rules use it. It exists only while
// changes of the tree need it.
package sourceindex

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// Config is the configuration of Sources.
type Config struct {
	// Metadata reads the objects, and Kubernetes RoleBindings, of which the metadata is not enough.
	Metadata   metadata.Interface
	Kubernetes kubernetes.Interface
	// Mapper resolves kinds.
	Mapper *kinds.Mapper
	// Rules returns the rules that exclude objects of any kind from propagation. They are the same as the propagator's.
	// Relist must be called when they change.
	Rules func() *copies.Rules
}

// Sources is an index of sources. It is safe for concurrent use. Run must be called once.
type Sources struct {
	Config
	// resolve holds a token while kinds must be resolved.
	resolve chan struct{}
	// mapperOutdated reports that the mapper returned a kind that does not exist any more.
	mapperOutdated atomic.Bool
	// lastUse is when the index was last needed, in nanoseconds since 1970; idle is how long after that its watches go
	// on. maxWait bounds how long the first use waits for it.
	lastUse       atomic.Int64
	idle, maxWait time.Duration

	mu sync.RWMutex
	// modes are the modes known so far, and changed is when they changed last; resolved reports that their kinds have been
	// resolved while the index is needed.
	modes                              Modes
	changed                            time.Time
	clusterKnown, treesKnown, resolved bool
	// hierarchies lists hierarchies, and treesVersion returns the resource version up to which they have been read. Both
	// are nil until they are followed.
	hierarchies  rest.Lister
	treesVersion func() string
	// policies are those of all kinds that are not ignored, as they were resolved last, at first those of the enforced
	// kinds; modesKnown reports that all modes have been resolved once.
	policies   map[schema.GroupResource]modes.Policies
	modesKnown bool
	// meant are the kinds that names meant last. The map is not changed.
	meant kinds.Names
	// kinds are the enforced kinds, then the others. problems describes the kinds that could not be resolved.
	kinds    []*kind
	problems []string
	// watching reports that the index is needed, since a time. progress is closed and replaced when more of it is
	// complete.
	watching bool
	since    time.Time
	progress chan struct{}
}

// kind is a watched kind, guarded by the lock of Sources.
type kind struct {
	kinds.WithPolicies
	index *copies.Index
	stop  context.CancelFunc
	// synced reports that the index is complete.
	synced bool
}

// New returns an empty index. Run populates it.
func New(config Config) *Sources {
	s := &Sources{Config: config, resolve: make(chan struct{}, 1), idle: idlePeriod, maxWait: maxWait, progress: make(chan struct{})}
	s.policies = byResource(kinds.All(kinds.Resolution{}, nil))
	return s
}

// Overwritten returns the local objects in the destinations that a move would overwrite, in the order of the
// destinations, and the kinds for which this is unknown. All destinations have a Before, and are descendants of the
// namespaces above, which start with the root. What comes from namespaces in between is reported only if it would not
// overwrite the object without the move. The modes are those after the request, nil if it changes none. The first call
// for some time waits until the objects are listed, for some seconds at most.
func (s *Sources) Overwritten(ctx context.Context, above []string, after *Modes, destinations iter.Seq[copies.Destination]) (writes []copies.Write, unknown []string) {
	s.waitForSync(ctx)
	moves, unknown := s.moves()
	if len(moves) == 0 {
		return nil, unknown
	}
	if after != nil {
		s.mu.RLock()
		before := s.meant
		s.mu.RUnlock()
		policies, problems, _ := s.kindPolicies(ctx, s.DiscoveryTime(), *after, before) // Others are not in the index.
		resolved := byResource(policies)
		for i := range moves {
			moves[i].Policies = resolved[moves[i].index.Kind.GroupResource()]
		}
		unknown = append(unknown, problems...)
	}
	for d := range destinations {
		if ctx.Err() != nil {
			return writes, append(unknown, "what is left when the request ends")
		}
		writes = append(writes, s.overwrittenIn(d, above, moves)...)
	}
	return writes, unknown
}

// lockedObjects is for how many objects changes of the index wait at a time.
const lockedObjects = 1000

// overwrittenIn returns the objects in one destination that a move would overwrite.
func (s *Sources) overwrittenIn(d copies.Destination, above []string, moves []move) (writes []copies.Write) {
	for _, m := range moves {
		s.mu.RLock()
		names := m.names(d.Namespace)
		s.mu.RUnlock()
		for some := range slices.Chunk(names, lockedObjects) {
			writes = append(writes, s.overwrittenOf(d, above, m, some)...)
		}
	}
	return writes
}

// overwrittenOf returns those of some names. Changes of the index wait for it.
func (s *Sources) overwrittenOf(d copies.Destination, above []string, m move, names []string) (writes []copies.Write) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d = d.Remember() // Roles may have changed.
	if d.Before != nil {
		before := d.Before.Remember()
		d.Before = &before
	}
	for _, w := range m.overwrittenOf(d, names) {
		if slices.Contains(above, w.From()) || !m.before.overwrites(d, w.Name) {
			writes = append(writes, w)
		}
	}
	return writes
}

// move is how the sources of one kind are copied before and after a move.
type move struct {
	candidates
	before candidates
}

// moves returns the propagated kinds, and those for which it is unknown what is overwritten.
func (s *Sources) moves() (moves []move, unknown []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var roles *copies.Index
	for _, k := range s.kinds {
		if !k.Copies() {
			continue
		}
		if !k.synced || (k.index.Kind == copies.RoleBindings && roles == nil) {
			unknown = append(unknown, k.index.Kind.GroupResource().String())
			continue
		}
		index := *k.index // A shallow copy, which gets the policies for each destination. Only the lock protects its objects.
		switch index.Kind {
		case copies.Roles:
			roles = &index
		case copies.RoleBindings:
			index.Roles = roles // they come first
		}
		c := candidates{k.Policies, &index}
		moves = append(moves, move{c, c})
	}
	if !s.resolved {
		unknown = append(unknown, "the configured kinds")
	}
	return moves, append(unknown, s.problems...)
}

// candidates are the sources of one kind that may be copied to destinations.
type candidates struct {
	modes.Policies
	index *copies.Index
}

// overwritten returns the objects in one destination that sources overwrite, sorted by name.
func (c candidates) overwritten(d copies.Destination) []copies.Write {
	return c.overwrittenOf(d, c.names(d.Namespace))
}

// names returns the sorted names of the objects in a namespace.
func (c candidates) names(namespace string) (names []string) {
	for o := range c.index.In(namespace) {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}

// overwrittenOf returns those of some names, in their order.
func (c candidates) overwrittenOf(d copies.Destination, names []string) (writes []copies.Write) {
	for _, name := range names {
		if w := c.decide(d, name); w != nil && w.Overwrites() {
			writes = append(writes, *w)
		}
	}
	return writes
}

// overwrites reports whether sources would overwrite an object of that name in the destination without the move.
func (c candidates) overwrites(d copies.Destination, name string) bool {
	before := *d.Before
	before.Before = d.Before // It inherits the same Roles.
	w := c.decide(before, name)
	return w != nil && w.Overwrites()
}

// decide returns what to write for one name in a destination, nil if nothing.
func (c candidates) decide(d copies.Destination, name string) *copies.Write {
	c.index.Policy, c.index.PolicyOf = c.Cluster, c.PolicyFunc(chainFrom(d.Ancestors))
	return c.index.Decide(d, name)
}
