package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// content returns a random binding to a role.
func (w *worker) content(role string) binding {
	return binding{Role: role, Subject: fmt.Sprintf("user-%d", w.random.IntN(100)), Note: fmt.Sprintf("note-%d", w.random.IntN(100))}
}

func (w *worker) createBinding(ctx context.Context) error {
	w.created++
	// Names are unique in the whole cluster: nothing is to be overwritten by what an ancestor has.
	key := types.NamespacedName{Namespace: w.node(), Name: fmt.Sprintf("binding-%d-%d", w.number, w.created)}
	return w.putBinding(ctx, key, w.content([]string{"view", "edit"}[w.random.IntN(2)]))
}

func (w *worker) putBinding(ctx context.Context, key types.NamespacedName, content binding) error {
	tries, err := w.try(ctx, "creating binding "+key.String(), func() error {
		_, err := w.client.RbacV1().RoleBindings(key.Namespace).Create(ctx, content.object(key), metav1.CreateOptions{})
		return err
	})
	if tries > 1 && apierrors.IsAlreadyExists(err) {
		err = nil
	}
	if err == nil {
		w.bindings[key] = content
	}
	return err
}

// pick returns one of the worker's bindings.
func (w *worker) pick() (types.NamespacedName, bool) {
	var keys []types.NamespacedName
	for key := range w.bindings {
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return types.NamespacedName{}, false
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return keys[w.random.IntN(len(keys))], true
}

// updateBinding changes a binding, or replaces it by one to another role, which no update can do.
func (w *worker) updateBinding(ctx context.Context) error {
	key, ok := w.pick()
	if !ok {
		return w.createBinding(ctx)
	}
	was := w.bindings[key]
	if w.random.IntN(4) == 0 {
		if err := w.removeBinding(ctx, key); err != nil {
			return err
		}
		return w.putBinding(ctx, key, w.content(map[string]string{"view": "edit", "edit": "view"}[was.Role]))
	}
	content := w.content(was.Role)
	patch, err := json.Marshal(content.object(key))
	if err != nil {
		return err
	}
	_, err = w.try(ctx, "changing binding "+key.String(), func() error {
		_, err := w.client.RbacV1().RoleBindings(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	if err == nil {
		w.bindings[key] = content
	}
	return err
}

func (w *worker) deleteBinding(ctx context.Context) error {
	key, ok := w.pick()
	if !ok {
		return w.createBinding(ctx)
	}
	return w.removeBinding(ctx, key)
}

func (w *worker) removeBinding(ctx context.Context, key types.NamespacedName) error {
	err := w.remove(ctx, "deleting binding "+key.String(), func() error {
		return w.client.RbacV1().RoleBindings(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{})
	})
	if err == nil {
		delete(w.bindings, key)
	}
	return err
}
