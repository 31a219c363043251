package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// errRefused is an answer that no repetition changes.
var errRefused = errors.New("refused")

// client carries out operations in namespaces with a prefix.
type client struct {
	suite.User
	prefix string
	// retried counts requests that were repeated, doubtful objects that a copy has overwritten although none of the
	// states between operations required that.
	retried, doubtful int
	// histories are those of the names that the user has written, fates how many objects that are not there any more
	// had which.
	histories map[key]*history
	fates     map[fate]int
}

func newClient(user suite.User, prefix string) *client {
	return &client{User: user, prefix: prefix, histories: map[key]*history{}, fates: map[fate]int{}}
}

func (c *client) full(name string) string {
	if name == "" {
		return ""
	}
	return c.prefix + name
}

// try repeats a request until it is answered for good, and returns errRefused if that is a refusal. done is asked
// whether an earlier try was carried out if a later one is refused.
func (c *client) try(ctx context.Context, what string, request func() error, done func(error) bool) error {
	end := time.Now().Add(patience)
	for tries := 1; ; tries++ {
		err := request()
		switch {
		case err == nil:
			return nil
		case final(err):
			if tries > 1 && done != nil && done(err) {
				return nil
			}
			return fmt.Errorf("%w: %w", errRefused, err)
		case time.Now().After(end) || ctx.Err() != nil:
			return fmt.Errorf("%s still fails after %s: %w", what, patience, err)
		}
		c.retried++
		time.Sleep(interval)
	}
}

// final reports whether an error is an answer, rather than a fault.
func final(err error) bool {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonConflict:
		// Another write was faster. An earlier try whose answer was lost may have been carried out.
		return !strings.Contains(err.Error(), registry.OptimisticLockErrorMsg)
	case metav1.StatusReasonAlreadyExists, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest,
		metav1.StatusReasonNotFound:
		return true
	default:
		return false
	}
}

// apply carries out an operation, and records it in the world if it was accepted. It returns an error that nobody
// should get.
func (c *client) apply(ctx context.Context, w *world, o operation) error {
	s, exists := w.spaces[o.space]
	retried := c.retried
	err := c.request(ctx, w, o)
	if o.verb == put || o.verb == remove {
		c.note(o, err == nil, c.retried > retried)
	}
	if errors.Is(err, errRefused) && !w.certain(o) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	if _, above := w.spaces[o.to]; !exists && o.verb != createNamespace && (o.verb != createSub || !above) && o.verb != setMode {
		// A request that is repeated finds nothing to delete. What is accepted in a namespace that was deleted, because
		// the server has not observed that, is deleted, as everywhere in Kubernetes.
		return nil
	}
	switch o.verb {
	case createNamespace, createSub:
		if exists {
			return fmt.Errorf("%s was accepted although it exists: %+v", o, s)
		}
		w.spaces[o.space] = space{parent: o.to, sub: o.verb == createSub}
		// A sub-namespace that is not ready in time is accepted as well.
		return poll(ctx, func() error {
			_, err := c.CoreV1().Namespaces().Get(ctx, c.full(o.space), metav1.GetOptions{})
			return err
		})
	case deleteNamespace, deleteSub:
		if w.hasSubs(o.space) && !w.cascades(o.space) {
			return fmt.Errorf("%s was accepted although it has sub-namespaces, without cascading deletion", o)
		}
		if o.verb == deleteNamespace && s.sub {
			return fmt.Errorf("%s was accepted although it is a sub-namespace", o)
		}
		return c.gone(ctx, w.remove(o.space)...)
	case setParent:
		if s.sub && s.parent != o.to {
			return fmt.Errorf("%s was accepted although it is a sub-namespace of %s", o, s.parent)
		}
		s.parent = o.to
	case deleteHierarchy:
		s.parent, s.cascade = "", false
	case setCascading:
		s.cascade = o.allow
	case setEnvironment:
		s.env = o.environment
	case setQuota:
		s.limit = o.limit
	case deleteQuota:
		s.limit = 0
	case put:
		w.objects[key{o.kind, o.space, o.name}] = o.source
	case remove:
		delete(w.objects, key{o.kind, o.space, o.name})
	case setMode:
		w.modes[o.kind] = o.mode
		return nil
	}
	w.spaces[o.space] = s
	if chain, orphaned := w.chain(o.space); chain == nil && !orphaned {
		return fmt.Errorf("%s was accepted and closes a cycle", o)
	}
	return nil
}

// request sends the request of an operation.
func (c *client) request(ctx context.Context, w *world, o operation) error {
	name := c.full(o.space)
	api := c.HNC.HncV1beta1()
	_, exists := w.spaces[o.space]
	switch o.verb {
	case createNamespace:
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		return c.try(ctx, o.String(), func() error {
			_, err := c.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
			return err
		}, func(error) bool { return !exists && c.exists(ctx, name) })
	case createSub:
		s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		return c.try(ctx, o.String(), func() error {
			_, err := api.Subnamespaces(c.full(o.to)).Create(ctx, s, metav1.CreateOptions{})
			return err
		}, func(error) bool { return !exists && c.requested(ctx, c.full(o.to), name) })
	case deleteNamespace:
		return c.deleteNamespace(ctx, w, o)
	case deleteSub:
		s := w.spaces[o.space]
		if !s.sub {
			return errRefused
		}
		return c.try(ctx, o.String(), func() error {
			return api.Subnamespaces(c.full(s.parent)).Delete(ctx, name, metav1.DeleteOptions{})
		}, func(error) bool { return !c.requested(ctx, c.full(s.parent), name) })
	case setParent:
		return c.hierarchy(ctx, o, "parent", c.full(o.to))
	case setCascading:
		return c.hierarchy(ctx, o, "allowCascadingDeletion", o.allow)
	case deleteHierarchy:
		if w.spaces[o.space].sub {
			return errRefused
		}
		return c.try(ctx, o.String(), func() error {
			return api.Hierarchies(name).Delete(ctx, hnc.Singleton, metav1.DeleteOptions{})
		}, apierrors.IsNotFound)
	case setEnvironment:
		var value any
		if o.environment != "" {
			value = o.environment
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{"env": value}}})
		if err != nil {
			return err
		}
		return c.try(ctx, o.String(), func() error {
			_, err := c.CoreV1().Namespaces().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}, nil)
	case setQuota:
		return c.applyObject(ctx, quotas, name, "budget", map[string]any{"spec": map[string]any{"hard": map[string]any{counted: fmt.Sprint(o.limit)}}})
	case deleteQuota:
		return c.remove(ctx, quotas, name, "budget")
	case put:
		return c.applyObject(ctx, resources[o.kind], name, o.name, content(o.kind, o.name, o.source, c.prefix))
	case remove:
		return c.remove(ctx, resources[o.kind], name, o.name)
	case setMode:
		return c.configure(ctx, o.kind, o.mode)
	}
	return fmt.Errorf("no operation: %s", o)
}
