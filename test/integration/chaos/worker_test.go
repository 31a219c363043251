package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// worker is a client that changes the forest. What it changes is its own, so that its log says how each of these things
// has to be: its full namespaces, which it moves; its sub-namespaces, which it creates anywhere and deletes when it has
// nothing below them; its bindings. Whatever others do, they put nothing into its sub-namespaces.
type worker struct {
	number int
	client *clients
	random *rand.Rand
	// common are the namespaces in which everybody may create things.
	common []string

	// parents holds what each full namespace's last acknowledged parent is, subs what that of each sub-namespace is.
	parents, subs map[string]string
	// gone are the sub-namespaces whose deletion was acknowledged.
	gone map[string]bool
	// bindings are what was acknowledged last.
	bindings map[types.NamespacedName]binding

	created, made, refused int
	// retried is how many requests failed and were repeated, by the reason.
	retried failures
}

// binding is what matters of a RoleBinding.
type binding struct {
	Role, Subject, Note string
}

func (b binding) object(key types.NamespacedName) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			Labels: map[string]string{"note": b.Note}, Annotations: map[string]string{"example.com/note": b.Note},
		},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.Role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: b.Subject}},
	}
}

func fullName(worker, i int) string { return fmt.Sprintf("full-%d-%d", worker, i) }

func newWorker(number int, client *clients, common []string, random *rand.Rand) *worker {
	w := &worker{
		number: number, client: client, common: common, random: random,
		parents: map[string]string{}, subs: map[string]string{}, gone: map[string]bool{}, bindings: map[types.NamespacedName]binding{},
	}
	for i := range fulls {
		w.parents[fullName(number, i)] = ""
	}
	return w
}

func (w *worker) String() string {
	return fmt.Sprintf("worker %d: %d changes, %d refused, %d retries, %d sub-namespaces and %d deleted, %d bindings",
		w.number, w.made, w.refused, w.retried.total(), len(w.subs), len(w.gone), len(w.bindings))
}

// mostBindings is how many bindings a worker has at a time. Each has a copy in every namespace below its own, and the
// servers have to be able to write all of them in a while: with hundreds, most of the time after the changes would go
// by with that.
const mostBindings = 30

// change makes one change, however often it has to be tried. It returns an error that nobody should get.
func (w *worker) change(ctx context.Context) error {
	w.made++
	switch n := w.random.IntN(100); {
	case n < 30:
		return w.move(ctx)
	case n < 50:
		return w.createSubnamespace(ctx)
	case n < 58:
		return w.deleteSubnamespace(ctx)
	case n < 78 && len(w.bindings) < mostBindings:
		return w.createBinding(ctx)
	case n < 78:
		return w.deleteBinding(ctx)
	case n < 90:
		return w.updateBinding(ctx)
	default:
		return w.deleteBinding(ctx)
	}
}

// node returns a namespace in which the worker may create things.
func (w *worker) node() string {
	if own := slices.Sorted(maps.Keys(w.subs)); len(own) > 0 && w.random.IntN(2) == 0 {
		return own[w.random.IntN(len(own))]
	}
	return w.common[w.random.IntN(len(w.common))]
}

func (w *worker) move(ctx context.Context) error {
	name, parent := fullName(w.number, w.random.IntN(fulls)), w.node()
	if w.random.IntN(8) == 0 {
		parent = ""
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": v1beta1.SchemeGroupVersion.String(), "kind": "Hierarchy",
		"metadata": map[string]any{"name": hnc.Singleton}, "spec": map[string]any{"parent": parent},
	})
	if err != nil {
		return err
	}
	_, err = w.try(ctx, "moving "+name+" below "+parent, func() error {
		force := true
		_, err := w.client.hnc.HncV1beta1().Hierarchies(name).
			Patch(ctx, hnc.Singleton, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "chaos", Force: &force})
		return err
	})
	// A cycle. Had an earlier try been carried out, nothing would have to be moved any more, and nothing be refused.
	if apierrors.IsInvalid(err) {
		w.refused++
		return nil
	}
	if err == nil {
		w.parents[name] = parent
	}
	return err
}

func (w *worker) createSubnamespace(ctx context.Context) error {
	w.created++
	name, parent := fmt.Sprintf("sub-%d-%d", w.number, w.created), w.node()
	client := w.client.hnc.HncV1beta1().Subnamespaces(parent)
	tries, err := w.try(ctx, "creating "+name+" in "+parent, func() error {
		_, err := client.Create(ctx, &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	})
	if tries > 1 && apierrors.IsAlreadyExists(err) {
		err = nil
	}
	if err != nil {
		return err
	}
	w.subs[name] = parent
	// The answer comes when the namespace can be used, but one that was lost, or that came while no propagator ran, did
	// not wait.
	_, err = w.try(ctx, "waiting for "+name, func() error {
		_, err := w.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return errRetry{err}
		}
		return err
	})
	return err
}

func (w *worker) deleteSubnamespace(ctx context.Context) error {
	leaves := slices.DeleteFunc(slices.Sorted(maps.Keys(w.subs)), func(name string) bool {
		below := func(parents map[string]string) bool {
			return slices.Contains(slices.Collect(maps.Values(parents)), name)
		}
		return below(w.subs) || below(w.parents)
	})
	if len(leaves) == 0 {
		return w.createSubnamespace(ctx)
	}
	name := leaves[w.random.IntN(len(leaves))]
	err := w.remove(ctx, "deleting "+name, func() error {
		err := w.client.hnc.HncV1beta1().Subnamespaces(w.subs[name]).Delete(ctx, name, metav1.DeleteOptions{})
		// The last child was deleted too, but it may not be gone yet.
		if apierrors.IsForbidden(err) {
			return errRetry{err}
		}
		return err
	})
	if err != nil {
		return err
	}
	delete(w.subs, name)
	w.gone[name] = true
	maps.DeleteFunc(w.bindings, func(key types.NamespacedName, _ binding) bool { return key.Namespace == name })
	return nil
}

// errRetry is an error that goes by itself.
type errRetry struct{ error }

// Unwrap returns the error as the server gave it.
func (e errRetry) Unwrap() error { return e.error }

// try makes a request until it is answered for good, and returns how many requests that took.
func (w *worker) try(ctx context.Context, what string, request func() error) (int, error) {
	end := time.Now().Add(patience)
	for tries := 1; ; tries++ {
		err := request()
		if startup(err) {
			err = errRetry{err}
		}
		if err == nil || final(err) {
			if err != nil {
				err = fmt.Errorf("%s: %w", what, err)
			}
			return tries, err
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return tries, fmt.Errorf("%s still fails after %s: %w", what, patience, err)
		}
		w.retried.add(err)
		time.Sleep(interval)
	}
}

// remove tries a deletion. What is not found after the first try was deleted by one whose answer was lost.
func (w *worker) remove(ctx context.Context, what string, request func() error) error {
	tried := false
	_, err := w.try(ctx, what, func() error {
		err := request()
		if tried && apierrors.IsNotFound(err) {
			err = nil
		}
		tried = true
		return err
	})
	return err
}

// startup reports whether an error is one of a kube-apiserver that has just started.
func startup(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "not yet ready to handle request")
}

// final reports whether an error is an answer, rather than a sign that a server isn't there or doesn't know yet what it
// needs.
func final(err error) bool {
	switch code := apierrors.ReasonForError(err); code {
	case metav1.StatusReasonConflict, metav1.StatusReasonAlreadyExists, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest:
		return !errors.As(err, &errRetry{})
	default:
		return false
	}
}
