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
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// announce announces a Role that is about to arrive in its namespace, and returns what confirm and leave need; nil if
// nothing has to be confirmed. A namespace without local Roles and RoleBindings is not read: a user who may write them
// has a RoleBinding there, or permissions in the whole cluster. Unless the Role is written already, it returns
// outcome.ErrPaced if the namespace has many, and those of too many others are being read: a worker waits for each.
func (c *Controller) announce(roles int, role copies.Write, written bool) (*arrivals, error) {
	if c.DryRun || !role.Arrives() {
		return nil, nil
	}
	var kind int
	var empty, long bool
	var root string
	c.Cache.Read(func(s *cache.State) {
		root = s.Tree.Root(role.Namespace)
		kind, empty, long = bindingsIn(s, role.Namespace)
	})
	if empty && role.Present == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.arrivals[role.Namespace]
	if all == nil {
		all = &arrivals{namespace: role.Namespace, root: root, roles: roles, bindings: kind, long: long}
		if long && !written && !c.mayReadLong(root) {
			return nil, paced(role)
		}
		c.arrivals[role.Namespace] = all
	}
	all.users++
	return all, nil
}

// bindingsIn returns the number of the kind RoleBinding, whether a namespace has none of them, and whether it has so many
// local ones that reading them takes long.
func bindingsIn(s *cache.State, namespace string) (kind int, empty, long bool) {
	kind, k := bindings(s)
	if k == nil {
		return kind, true, false
	}
	local, inherited := k.Index.CountIn(namespace)
	return kind, local+inherited == 0, local > shortList
}

// readsLong reports whether the RoleBindings of a namespace that has many are being read. Only the Roles of a pass, which
// one worker writes, wait for that together.
func (c *Controller) readsLong(namespace string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.arrivals[namespace]
	return a != nil && a.long
}

func paced(role copies.Write) error {
	return fmt.Errorf("%w: Role %s/%s awaits that other RoleBindings are read", outcome.ErrPaced, role.Namespace, names.Shorten(role.Name))
}

// mayReadLong reports whether the RoleBindings of one more namespace that has many may be read. The lock must be held.
func (c *Controller) mayReadLong(root string) bool {
	total, inTree := 0, 0
	for _, a := range c.arrivals {
		if a.long {
			total++
			if a.root == root {
				inTree++
			}
		}
	}
	return inTree < min(longListsPerTree, max(c.Workers/4, 1)) && total < max(c.Workers/2, 1)
}

// leave ends the use of what announce returned, if anything.
func (c *Controller) leave(all *arrivals) {
	if all == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if all.users--; all.users == 0 {
		delete(c.arrivals, all.namespace)
	}
}

// confirm removes the local RoleBindings that refer to a Role which has just been written and that the cache did not
// contain, because they are newer. Later ones are authorized by the Role's rules. If it cannot remove them, it
// withdraws the Role.
func (c *Controller) confirm(ctx context.Context, all *arrivals, role copies.Write, written copies.Written) error {
	err := c.removeAllBound(ctx, all, role)
	if err == nil {
		return nil
	}
	key := queue.Key{Class: queue.Copy, Kind: all.roles, Namespace: role.Namespace, Name: role.Name}
	c.mu.Lock()
	delete(c.withdrawals, key) // That of an earlier one, which is gone.
	c.mu.Unlock()
	failed := c.withdraw(ctx, key, copies.Write{Verb: copies.Delete, Kind: role.Kind, Namespace: role.Namespace, Name: role.Name, Present: &copies.Object{
		Namespace: role.Namespace, Name: role.Name, UID: written.UID, ResourceVersion: written.ResourceVersion, Copy: true, InheritedFrom: role.Source.Namespace,
	}})
	if failed != nil {
		c.Queue.Add(key)
	}
	return errors.Join(fmt.Errorf("%w: Role %s/%s is withdrawn until no RoleBinding refers to another one: %w", outcome.ErrStale,
		role.Namespace, names.Shorten(role.Name), err), failed)
}

// withdraw removes a Role that could not be confirmed. If that fails, it is what the key does next.
func (c *Controller) withdraw(ctx context.Context, key queue.Key, role copies.Write) error {
	// Also when the process ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawalTimeout)
	defer cancel()
	_, err := copies.Apply(ctx, c.Client, role)
	c.mu.Lock()
	defer c.mu.Unlock()
	if held, is := c.withdrawals[key]; is && held.Present.UID == role.Present.UID {
		delete(c.withdrawals, key)
	} else if is {
		return err // That of a later one has failed meanwhile.
	}
	if err != nil && !apierrors.IsConflict(err) {
		c.withdrawals[key] = role
	}
	return err
}

// resumeWithdrawal withdraws a Role for which that has failed before, and reports whether there was one.
func (c *Controller) resumeWithdrawal(ctx context.Context, key queue.Key) (resumed bool, err error) {
	c.mu.Lock()
	role, resumed := c.withdrawals[key]
	c.mu.Unlock()
	if resumed {
		err = c.withdraw(ctx, key, role)
	}
	return resumed, err
}

// recordAnswer remembers a Role that may have been written although the answer does not say so: there is none, the
// server has not waited for its etcd, or the client has repeated the request, and got a conflict with the first one.
func (c *Controller) recordAnswer(kind int, role copies.Write, err error) {
	if c.DryRun || !role.Arrives() || (outcome.Rejected(err) && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err)) {
		return
	}
	key := queue.Key{Class: queue.Copy, Kind: kind, Namespace: role.Namespace, Name: role.Name}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.unanswered.Delete(key)
		return
	}
	c.unanswered.Insert(key)
	c.Queue.AddAfter(key, time.Second)
}

// confirmUnanswered confirms a Role that was written without an answer. It returns outcome.ErrPaced while the watch may
// still bring it.
func (c *Controller) confirmUnanswered(ctx context.Context, key queue.Key) error {
	c.mu.Lock()
	unanswered := c.unanswered.Has(key)
	c.mu.Unlock()
	if !unanswered {
		return nil
	}
	role := copies.Write{Verb: copies.Create, Kind: copies.Roles, Namespace: key.Namespace, Name: key.Name}
	var present *copies.Object
	c.Cache.Read(func(s *cache.State) {
		index := s.Kind(key.Kind).Index
		role.Source, present = index.Governing(namespacestate.Destination(s.Tree, key.Namespace), key.Name), index.Get(key.Namespace, key.Name)
	})
	if role.Source != nil && present == nil {
		return fmt.Errorf("%w: Role %s/%s may have been written", outcome.ErrPaced, role.Namespace, names.Shorten(role.Name))
	}
	// What comes without a source is removed.
	if role.Source != nil && present.Copy && present.InheritedFrom == role.Source.Namespace {
		all, err := c.announce(key.Kind, role, false)
		if err == nil && all != nil {
			defer c.leave(all)
			err = c.confirm(ctx, all, role, copies.Written{UID: present.UID, ResourceVersion: present.ResourceVersion})
		}
		if err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unanswered.Delete(key)
	return nil
}

const (
	// withdrawalTimeout bounds the withdrawal of a Role.
	withdrawalTimeout = 10 * time.Second
	// maxRemovals is how often RoleBindings are removed before a Role is withdrawn.
	maxRemovals = 5
	// shortList is how many local RoleBindings of a namespace are read at any time, ten pages. Of the namespaces that have
	// more, longListsPerTree of each tree are read at a time, and of all trees half as many as there are workers.
	shortList        = 200
	longListsPerTree = 2
)

// arrival is a Role that has just been written.
type arrival struct {
	role copies.Write
	// evaluated is set once a list that began after the write has been evaluated, and err says why RoleBindings that
	// refer to the Role may be left.
	evaluated bool
	err       error
}

// arrivals are the Roles of a namespace that are being written.
type arrivals struct {
	namespace, root string
	// roles and bindings are the numbers of the kinds Role and RoleBinding.
	roles, bindings int
	// long says that the namespace has many RoleBindings.
	long bool
	// evaluating is held by the one that evaluates for all others.
	evaluating sync.Mutex
	// waiting are those that wait for the next list, and users how many use the record. The controller's lock guards
	// both.
	waiting []*arrival
	users   int
}

// removeAllBound removes the local RoleBindings that refer to a Role which has just been written. Of the Roles of a
// namespace that are written meanwhile, all share the next list.
func (c *Controller) removeAllBound(ctx context.Context, all *arrivals, role copies.Write) error {
	a := &arrival{role: role}
	c.mu.Lock()
	all.waiting = append(all.waiting, a)
	c.mu.Unlock()

	all.evaluating.Lock()
	defer all.evaluating.Unlock()
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
	errs := c.removeBound(ctx, all.bindings, role.Namespace, sources)
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
