package copies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// bindingLists answers lists of RoleBindings.
type bindingLists func(refers func(string) bool, found func(*rbacv1.RoleBinding) error) error

func (f bindingLists) RoleBindings(_ context.Context, _, _ string, refers func(string) bool, found func(*rbacv1.RoleBinding) error) error {
	return f(refers, found)
}

// arriving makes the namespace leaf one that has a RoleBinding, to no Role.
func arriving(t *testing.T) *roleFixture {
	t.Helper()
	f := newRoleFixture(t)
	f.forget()
	f.Cache.Update(func(s *cache.State) {
		s.Kind(1).Index.Set(copies.NewRoleBinding(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: "other", UID: "o", ResourceVersion: "1"}}, &copies.Rules{}))
	})
	f.live(t, f.binding)
	return f
}

// A namespace may have many RoleBindings, and many Roles arrive at once. A list counts only for those that were written
// before it.
func TestRolesThatArriveMeanwhileShareAList(t *testing.T) {
	const roles = 40
	f := arriving(t)
	first, proceed, lists := make(chan struct{}), make(chan struct{}), 0
	f.Bindings = bindingLists(func(func(string) bool, func(*rbacv1.RoleBinding) error) error {
		if lists++; lists == 1 {
			close(first)
			<-proceed
		}
		return nil
	})
	arrive := func(name string) {
		role := copies.Write{Verb: copies.Create, Kind: copies.Roles, Namespace: "leaf", Name: name, Source: &copies.Object{Namespace: "root", Name: name}}
		all, err := f.announce(0, role, false)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.leave(all)
		if err := f.confirm(t.Context(), all, role, copies.Written{}); err != nil {
			t.Error(err)
		}
	}
	var arrivals sync.WaitGroup
	arrivals.Go(func() { arrive("first") })
	<-first
	for i := range roles {
		arrivals.Go(func() { arrive(fmt.Sprint("role-", i)) })
	}
	waiting := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.arrivals["leaf"].waiting)
	}
	for waiting() < roles && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	close(proceed)
	arrivals.Wait()
	if lists != 2 || len(f.arrivals) > 0 {
		t.Errorf("%d lists, and %d namespaces are remembered", lists, len(f.arrivals))
	}
}

// Any number of RoleBindings may be listed, and other trees need the slots.
func TestRoleBindingsAreListedWithoutASlot(t *testing.T) {
	f, held := arriving(t), 0
	f.Bindings = bindingLists(func(func(string) bool, func(*rbacv1.RoleBinding) error) error {
		held = len(f.slots)
		return nil
	})
	if err := f.write(t, 0, "ops"); err != nil || held > 0 || len(f.slots) > 0 {
		t.Errorf("got %v, %d slots are held, %d later", err, held, len(f.slots))
	}
}

// A worker waits for each list, and the others are for other trees.
func TestFewLongListsAreReadAtATime(t *testing.T) {
	for name, row := range map[string]struct {
		bindings int
		reading  []arrivals
		paced    bool
	}{
		"none is read":                    {bindings: shortList + 1},
		"one of the tree is read":         {bindings: shortList + 1, reading: []arrivals{{root: "root", long: true}}},
		"two of the tree are read":        {bindings: shortList + 1, reading: []arrivals{{root: "root", long: true}, {root: "root", long: true}}, paced: true},
		"short ones are read":             {bindings: shortList + 1, reading: []arrivals{{root: "root"}, {root: "root"}, {root: "root"}}},
		"it is short":                     {bindings: shortList, reading: []arrivals{{root: "root", long: true}, {root: "root", long: true}}},
		"one of another tree is read":     {bindings: shortList + 1, reading: []arrivals{{root: "other", long: true}}},
		"half of the workers wait for it": {bindings: shortList + 1, reading: []arrivals{{root: "a", long: true}, {root: "b", long: true}, {root: "c", long: true}, {root: "d", long: true}}, paced: true},
	} {
		f := arriving(t)
		f.Workers = 8
		f.live(t)
		f.Cache.Update(func(s *cache.State) {
			for i := 1; i < row.bindings; i++ {
				s.Kind(1).Index.Set(copies.NewRoleBinding(&rbacv1.RoleBinding{
					ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: fmt.Sprint("b", i), UID: types.UID(fmt.Sprint(i)), ResourceVersion: "1"},
				}, &copies.Rules{}))
			}
		})
		for i := range row.reading {
			f.arrivals[fmt.Sprint("reading-", i)] = &row.reading[i]
		}
		err := f.write(t, 0, "ops")
		if paced := errors.Is(err, outcome.ErrPaced); paced != row.paced || (!paced && err != nil) || (paced && len(f.client.requests) > 0) || len(f.arrivals) != len(row.reading) {
			t.Errorf("%s: got %v, %q, %d namespaces are remembered", name, err, f.client.requests, len(f.arrivals))
		}
	}
}

// Only the Roles of a pass, which one worker writes, wait for a list together.
func TestWorkersDoNotWaitForTheLongListOfAnother(t *testing.T) {
	for _, long := range []bool{false, true} {
		f := arriving(t)
		f.live(t)
		f.arrivals["leaf"] = &arrivals{namespace: "leaf", root: "root", bindings: 1, long: long, users: 1}
		err := f.syncCopy(t.Context(), queue.Key{Class: queue.Copy, Kind: 0, Namespace: "leaf", Name: "ops"})
		if errors.Is(err, outcome.ErrPaced) != long || (len(f.client.requests) > 0) == long {
			t.Errorf("a long list: %t: got %v, %q", long, err, f.client.requests)
		}
		if !long {
			continue
		}
		if err := f.write(t, 0, "ops"); err != nil {
			t.Errorf("in a pass: %v", err)
		}
	}
}

// The namespace may get its first RoleBinding from above while the Role waits for its slot.
func TestANamespaceIsReadIfItIsNoLongerEmptyWhenARoleHasArrived(t *testing.T) {
	f := newRoleFixture(t)
	f.forget()
	f.live(t, f.binding)
	f.client.created = func() {
		f.Cache.Update(func(s *cache.State) {
			inherited := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{
				Namespace: "leaf", Name: "admins", UID: "a", ResourceVersion: "1", Labels: map[string]string{hnc.LabelInheritedFrom: "root"},
			}}
			s.Kind(1).Index.Set(copies.NewRoleBinding(inherited, &copies.Rules{}))
		})
	}
	f.client.deleted = func(name string) {
		if err := f.Kubernetes.RbacV1().RoleBindings("leaf").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
	if err := f.write(t, 0, "ops"); err != nil || !slices.Equal(f.client.requests, []string{"create roles in leaf", "delete rolebindings leaf/waiting"}) {
		t.Errorf("got %v, %q", err, f.client.requests)
	}
}

func TestAFailedWithdrawalIsTriedAgain(t *testing.T) {
	f, enqueued := arriving(t), added{}
	f.Queue, f.client.refused, f.client.refusedRoles = enqueued, errors.New("denied"), errors.New("the server is down")
	if err := f.write(t, 0, "ops"); err == nil {
		t.Fatal("it is confirmed")
	}
	key := queue.Key{Class: queue.Copy, Kind: 0, Namespace: "leaf", Name: "ops"}
	if !enqueued[key] {
		t.Errorf("enqueued are %v", enqueued)
	}
	if err := f.syncCopy(t.Context(), key); !errors.Is(err, f.client.refusedRoles) {
		t.Errorf("got %v", err)
	}
	f.client.refusedRoles = nil
	key.Class = queue.Revocation // Its source has been deleted.
	if err := f.syncCopy(t.Context(), key); err != nil || f.client.requests[len(f.client.requests)-1] != "delete roles leaf/ops" || len(f.withdrawals) > 0 {
		t.Errorf("got %v, %q", err, f.client.requests)
	}
}

// The watch brings the Role, and then there is nothing to write any more.
func TestARoleWhoseWriteHasNoAnswerIsConfirmed(t *testing.T) {
	roles := copies.Roles.GroupResource()
	for name, row := range map[string]struct {
		err    error
		stays  bool
		source bool
	}{
		"the connection is lost":     {err: errors.New("connection reset by peer"), source: true},
		"a timeout":                  {err: apierrors.NewTimeoutError("later", 1), source: true},
		"etcd takes too long":        {err: apierrors.NewInternalError(errors.New("etcdserver: request timed out")), source: true},
		"the client has repeated it": {err: apierrors.NewAlreadyExists(roles, "ops"), source: true},
		"it was rejected":            {err: apierrors.NewForbidden(roles, "ops", errors.New("denied")), source: true, stays: true},
		"the source is gone":         {err: apierrors.NewTimeoutError("later", 1), stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			f, enqueued, key := arriving(t), added{}, queue.Key{Class: queue.Copy, Kind: 0, Namespace: "leaf", Name: "ops"}
			f.Queue, f.client.lost = enqueued, row.err
			f.client.deleted = func(name string) {
				if err := f.Kubernetes.RbacV1().RoleBindings("leaf").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}
			if err := f.write(t, 0, "ops"); !errors.Is(err, row.err) {
				t.Errorf("got %v", err)
			}
			if !row.source {
				f.Cache.Update(func(s *cache.State) { s.Kind(0).Index.Delete("root", "ops", "source") })
			} else {
				// Somebody else writes all copies of the namespace.
				f.Hold("leaf", "root")
				if err := f.syncCopy(t.Context(), key); errors.Is(err, outcome.ErrPaced) == row.stays {
					t.Errorf("before it is there: got %v", err)
				}
				f.Release("leaf", "root")
				f.Cache.Update(func(s *cache.State) {
					s.Kind(0).Index.Wrote(s.Kind(0).Index.Get("root", "ops"), "leaf", copies.Written{UID: "role", ResourceVersion: "7"}, true)
				})
			}
			if enqueued[key] == (row.source && row.stays) {
				t.Errorf("enqueued are %v", enqueued)
			}
			key.Class = queue.Revocation
			if err := f.syncCopy(t.Context(), key); err != nil || len(f.unanswered) > 0 {
				t.Errorf("got %v, %v are left", err, f.unanswered)
			}
			want := []string{"create roles in leaf", "delete rolebindings leaf/waiting"}
			if row.stays {
				want = want[:1]
			}
			if !slices.Equal(f.client.requests, want) {
				t.Errorf("got %q", f.client.requests)
			}
		})
	}
}

func TestAnExpiredListOfRoleBindingsBeginsAgain(t *testing.T) {
	for _, expirations := range []int{1, maxRemovals - 1, maxRemovals} {
		f, lists := arriving(t), 0
		f.Bindings = bindingLists(func(refers func(string) bool, _ func(*rbacv1.RoleBinding) error) error {
			if !refers("ops") {
				t.Error("the Role is not looked for")
			}
			if lists++; lists <= expirations {
				return apierrors.NewResourceExpired("too old")
			}
			return nil
		})
		err := f.write(t, 0, "ops")
		withdrawn := f.client.requests[len(f.client.requests)-1] == "delete roles leaf/ops"
		if want := expirations == maxRemovals; (err != nil) != want || withdrawn != want {
			t.Errorf("after %d expirations: got %v, withdrawn: %t", expirations, err, withdrawn)
		}
	}
}

// Roles that share a list share no failures.
func TestARoleIsNotWithdrawnForTheRoleBindingsOfAnother(t *testing.T) {
	f := arriving(t)
	f.client.refused = errors.New("denied")
	f.Bindings = bindingLists(func(refers func(string) bool, found func(*rbacv1.RoleBinding) error) error {
		if refers("ops") {
			return found(f.binding)
		}
		return nil
	})
	errs := f.removeBound(t.Context(), 1, "leaf", map[string]*copies.Object{"ops": {Namespace: "root", Name: "ops"}, "fine": {Namespace: "root", Name: "fine"}})
	if errs["ops"] == nil || errs["fine"] != nil {
		t.Errorf("got %v", errs)
	}
}
