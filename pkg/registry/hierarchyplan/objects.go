package hierarchyplan

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// Limits bounds the cost of plans.
type Limits struct {
	// Concurrent bounds the number of concurrent plans.
	Concurrent inflight.Limits
	// Memory bounds the bytes of objects, and of the effects on them, that one plan holds.
	Memory int64
}

const (
	// objectSize is the approximate memory of an object in a plan, in bytes, without its content, names and
	// annotations. BenchmarkMemory measures it.
	objectSize = 512
	// writeSize is that of a write while it is decided, and grantSize that of a subject whose access is compared.
	writeSize, grantSize = 384, 512
	// maxSubjects bounds the subjects whose access is compared in one namespace, unless the objects leave memory for more.
	maxSubjects = 15_000
	// effectBytes is the memory of that comparison. Effects are filtered when they have as much.
	effectBytes = maxSubjects * grantSize
)

// effectSize returns the approximate memory of the effect in one namespace while it is filtered.
func (snap *snapshot) effectSize(e plan.Effect) int64 {
	return int64(len(e.Writes))*writeSize + int64(snap.subjects(e))*grantSize
}

// subjects returns how many subjects are compared for the changes of access in one namespace.
func (snap *snapshot) subjects(e plan.Effect) int {
	subjects, touched := 0, false
	for _, w := range e.Writes {
		if w.Kind != copies.RoleBindings || w.Verb == copies.Keep {
			continue
		}
		touched = true
		if w.Source != nil {
			subjects += len(snap.grants[w.Source.UID].subjects)
		}
	}
	if touched {
		for o := range snap.index(copies.RoleBindings).In(e.Namespace) {
			subjects += len(snap.grants[o.UID].subjects)
		}
	}
	return subjects
}

// readObjects adds the objects of the kinds in the namespaces to the snapshot. A kind that cannot be listed, or has
// too many objects, is skipped and reported as unknown.
func (p *Planner) readObjects(ctx context.Context, snap *snapshot, policies []kinds.WithPolicies, namespaces sets.Set[string]) {
	snap.grants = map[types.UID]grant{}
	var roles *copies.Index
	free := p.Limits.Memory
	for _, kp := range policies {
		if kp.Kind == copies.RoleBindings && roles == nil {
			snap.unknown = append(snap.unknown, fmt.Sprintf("%s: the roles that they refer to are not known", kp.Kind.GroupResource()))
			continue
		}
		var index *copies.Index
		var left int64
		begin := func() {
			index, left = copies.NewIndex(kp.Kind), free
			index.Policy, index.PolicyOf, index.Roles = kp.Cluster, kp.PolicyFunc(snap.tree.Chain), roles
			if kp.Kind == copies.RoleBindings {
				clear(snap.grants)
			}
		}
		err := p.forEachObject(ctx, kp.Kind.GroupVersionResource, namespaces, begin, func(u *unstructured.Unstructured) error {
			o, err := copies.NewObject(u, &snap.rules.Copies)
			if err != nil {
				return err
			}
			index.Set(o.WithoutContent())
			left -= int64(objectSize + o.TextSize())
			if kp.Kind == copies.RoleBindings {
				var binding rbacv1.RoleBinding
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &binding); err != nil {
					return err
				}
				snap.grants[o.UID] = newGrant(&binding)
				left -= int64(len(snap.grants[o.UID].role.Name)) // TextSize excludes that of a ClusterRole
				for _, s := range binding.Subjects {
					left -= int64(64 + len(s.Kind) + len(s.APIGroup) + len(s.Name) + len(s.Namespace))
				}
			}
			if left < 0 {
				return errTooMany
			}
			return nil
		})
		if err != nil {
			snap.unknown = append(snap.unknown, fmt.Sprintf("%s: %v", kp.Kind.GroupResource(), err))
			if kp.Kind == copies.RoleBindings {
				clear(snap.grants)
			}
			continue
		}
		free = left
		if kp.Kind == copies.Roles {
			roles = index // it comes before that of RoleBindings
		}
		snap.indexes = append(snap.indexes, index)
	}
	snap.free = free
}

var errTooMany = errors.New("there are too many objects for one plan in its namespaces; plan a smaller subtree")

// Up to fewNamespaces namespaces are listed one by one. For more, the whole cluster is listed, unless it has too many large
// objects for up to manyNamespaces, or so many objects that a request for each namespace, which takes as long as
// requestObjects objects of a long list, is faster.
const (
	fewNamespaces  = 50
	manyNamespaces = 1000
	requestObjects = 30
	maxParallel    = 4
)

// forEachObject calls f for each object of a resource in the namespaces, one at a time. It calls begin before, and again
// when it lists namespaces after a part of the cluster, because objects may have changed since.
func (p *Planner) forEachObject(ctx context.Context, resource schema.GroupVersionResource, namespaces sets.Set[string], begin func(),
	f func(*unstructured.Unstructured) error,
) error {
	begin()
	var mu sync.Mutex
	list := func(ctx context.Context, namespace string, most int) error {
		return p.Lister.forEach(ctx, resource, namespace, most, namespaces.Has, func(u *unstructured.Unstructured) error {
			mu.Lock()
			defer mu.Unlock()
			return f(u)
		})
	}
	if len(namespaces) > fewNamespaces {
		err := list(ctx, "", len(namespaces)*requestObjects)
		if !errors.Is(err, errMore) && (!errors.Is(err, errManyLarge) || len(namespaces) > manyNamespaces) {
			return err
		}
		begin()
	}
	lists, ctx := errgroup.WithContext(ctx)
	lists.SetLimit(maxParallel)
	for namespace := range namespaces {
		lists.Go(func() error { return list(ctx, namespace, 0) })
	}
	return lists.Wait()
}
