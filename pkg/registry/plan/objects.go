package plan

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

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sources"
)

// Limits bounds what plans cost.
type Limits struct {
	// Concurrent is how many plans are computed at the same time.
	Concurrent inflight.Limits
	// Memory is how many bytes of objects one plan may hold.
	Memory int64
}

// objectSize is about what a plan takes for an object, in bytes; its content is not kept. BenchmarkMemory measures it.
const objectSize = 512

// readObjects fills in the objects of the kinds in the namespaces. A kind that can't be read, or of which there is too much, is left out, and
// reported as unknown.
func (p *Planner) readObjects(ctx context.Context, pic *picture, treatments []sources.Treatment, namespaces sets.Set[string]) {
	pic.grants = map[types.UID]grant{}
	free := p.Limits.Memory
	for _, e := range treatments {
		index := copies.NewIndex(e.Kind)
		index.Policy, index.PolicyOf = e.Cluster, e.On(pic.tree.Chain)
		left := free
		err := p.each(ctx, e.Kind.GroupVersionResource, namespaces, func(u *unstructured.Unstructured) error {
			o, err := copies.NewObject(u, &p.Rules)
			if err != nil {
				return err
			}
			index.Set(o.WithoutContent())
			left -= objectSize
			if e.Kind == copies.Kinds[1] {
				var binding rbacv1.RoleBinding
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &binding); err != nil {
					return err
				}
				pic.grants[o.UID] = grant{binding.Subjects, binding.RoleRef}
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
			pic.unknown = append(pic.unknown, fmt.Sprintf("%s: %v", e.Kind.GroupResource(), err))
			if e.Kind == copies.Kinds[1] {
				pic.grants = map[types.UID]grant{}
			}
			continue
		}
		free = left
		pic.indexes = append(pic.indexes, index)
	}
}

var errTooMany = errors.New("there are too many objects for one plan in the namespaces that it is about; ask about a smaller subtree")

// Few namespaces are read one by one, some at a time; many by reading all.
const (
	fewNamespaces = 50
	atATime       = 4
)

// each calls f with all objects of a resource in the namespaces, one after the other.
func (p *Planner) each(ctx context.Context, resource schema.GroupVersionResource, namespaces sets.Set[string], f func(*unstructured.Unstructured) error) error {
	var mu sync.Mutex
	list := func(ctx context.Context, namespace string) error {
		return p.Objects.each(ctx, resource, namespace, func(u *unstructured.Unstructured) error {
			if !namespaces.Has(u.GetNamespace()) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			return f(u)
		})
	}
	if len(namespaces) > fewNamespaces {
		return list(ctx, "")
	}
	lists, ctx := errgroup.WithContext(ctx)
	lists.SetLimit(atATime)
	for namespace := range namespaces {
		lists.Go(func() error { return list(ctx, namespace) })
	}
	return lists.Wait()
}
