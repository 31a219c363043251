package copies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// confirmUnbound removes the local RoleBindings that refer to a Role which has just been written and that the cache did
// not contain, because they are newer. Later ones are authorized by the Role's rules. If it cannot remove them, it
// withdraws the Role. A namespace without local Roles and RoleBindings is not read: a user who may write them has a
// RoleBinding there, or permissions in the whole cluster.
func (c *Controller) confirmUnbound(ctx context.Context, role copies.Write, written copies.Written) error {
	kind, empty := 0, true
	c.Cache.Read(func(s *cache.State) {
		var k *cache.Kind
		if kind, k = bindings(s); k != nil {
			for range k.Index.In(role.Namespace) {
				empty = false
				break
			}
		}
	})
	if c.DryRun || (empty && role.Present == nil) {
		return nil
	}
	err := c.removeAllBound(ctx, kind, role)
	if err == nil {
		return nil
	}
	// Also when the process ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawalTimeout)
	defer cancel()
	withdrawn := copies.Write{Verb: copies.Delete, Kind: role.Kind, Namespace: role.Namespace, Name: role.Name, Present: &copies.Object{
		Namespace: role.Namespace, Name: role.Name, UID: written.UID, ResourceVersion: written.ResourceVersion, Copy: true, InheritedFrom: role.Source.Namespace,
	}}
	_, failed := copies.Apply(ctx, c.Client, withdrawn)
	return errors.Join(fmt.Errorf("%w: Role %s/%s is withdrawn until no RoleBinding refers to another one: %w", outcome.ErrStale,
		role.Namespace, names.Shorten(role.Name), err), failed)
}

const (
	// withdrawalTimeout bounds the withdrawal of a Role.
	withdrawalTimeout = 10 * time.Second
	// maxRemovals is how often RoleBindings are removed before a Role is withdrawn.
	maxRemovals = 5
)

// arrival is a Role that has just been written.
type arrival struct {
	role copies.Write
	// evaluated is set once a list that began after the write has been evaluated, and err says why RoleBindings that
	// refer to the Role may be left.
	evaluated bool
	err       error
}

// arrivals are the Roles of a namespace that have just been written.
type arrivals struct {
	// evaluating is held by the one that evaluates for all others.
	evaluating sync.Mutex
	// waiting are those that wait for the next list, and users how many use the record. The controller's lock guards
	// both.
	waiting []*arrival
	users   int
}

// removeAllBound removes the local RoleBindings that refer to a Role which has just been written. Of the Roles of a
// namespace that are written meanwhile, all share the next list.
func (c *Controller) removeAllBound(ctx context.Context, kind int, role copies.Write) error {
	a := &arrival{role: role}
	c.mu.Lock()
	all := c.arrivals[role.Namespace]
	if all == nil {
		all = &arrivals{}
		c.arrivals[role.Namespace] = all
	}
	all.waiting = append(all.waiting, a)
	all.users++
	c.mu.Unlock()

	all.evaluating.Lock()
	defer func() {
		all.evaluating.Unlock()
		c.mu.Lock()
		defer c.mu.Unlock()
		if all.users--; all.users == 0 {
			delete(c.arrivals, role.Namespace)
		}
	}()
	if a.evaluated {
		return a.err
	}
	c.mu.Lock()
	batch := all.waiting
	all.waiting = nil
	c.mu.Unlock()
	sources := map[string]*copies.Object{}
	for _, other := range batch {
		sources[other.role.Name] = other.role.Source
	}
	errs := c.removeBound(ctx, kind, role.Namespace, sources)
	for _, other := range batch {
		other.evaluated, other.err = true, errs[other.role.Name]
	}
	return a.err
}

// removeBound removes the local RoleBindings in a namespace that refer to Roles, given by their names with their
// sources, until there are none: somebody may have used one to create another one. It returns errors by the names of
// the Roles.
func (c *Controller) removeBound(ctx context.Context, kind int, namespace string, sources map[string]*copies.Object) map[string]error {
	errs := map[string]error{}
	var expired error
	for range maxRemovals {
		removed := sets.New[string]()
		remove := func(b *rbacv1.RoleBinding) error {
			role := b.RoleRef.Name
			err := c.removeInvalid(ctx, kind, copies.Write{
				Verb: copies.Delete, Kind: copies.RoleBindings, Namespace: b.Namespace, Name: b.Name,
				Present: copies.NewRoleBinding(b, &copies.Rules{}), Role: sources[role],
			})
			switch {
			case apierrors.IsNotFound(err):
			case err != nil:
				errs[role] = fmt.Errorf("RoleBinding %q: %w", names.Shorten(b.Name), err)
			default:
				removed.Insert(role)
			}
			return nil
		}
		refers := func(role string) bool { return sources[role] != nil && errs[role] == nil }
		err := c.Bindings.RoleBindings(ctx, namespace, "!"+hnc.LabelInheritedFrom, refers, remove)
		if expired = nil; apierrors.IsResourceExpired(err) {
			expired = err
		}
		maps.DeleteFunc(sources, func(role string, _ *copies.Object) bool {
			if errs[role] == nil && expired == nil {
				errs[role] = err
			}
			return errs[role] != nil || (expired == nil && !removed.Has(role))
		})
		if len(sources) == 0 {
			return errs
		}
	}
	for role := range sources {
		if errs[role] = expired; expired == nil {
			errs[role] = errors.New("RoleBindings that refer to it are created all the time")
		}
	}
	return errs
}

// removeInvalid removes a RoleBinding, whose content is kept.
func (c *Controller) removeInvalid(ctx context.Context, kind int, w copies.Write) error {
	done, err := c.backups.begin(w)
	if err != nil {
		return err
	}
	defer done()
	kept, err := c.backups.add(ctx, w)
	if err == nil {
		_, err = copies.Apply(ctx, c.Client, w)
	}
	if err == nil && w.Present.Finalized {
		err = errors.New("its finalizers keep it")
	}
	if err != nil {
		c.backups.discard(ctx, w, kept, err)
		return err
	}
	c.observe(kind, w, copies.Written{}, kept)
	return nil
}
