package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/patch"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
)

// updateNamespace changes the labels and annotations of a namespace: of a sub-namespace those of its Subnamespace, by
// the caller, and of any other as kube-apiserver allows the caller to. Nothing else of a namespace changes.
func (h *Handler) updateNamespace(c *call, member *Member, realName string) error {
	if !member.Subnamespace {
		return h.updateFullNamespace(c, realName)
	}
	body, err := c.readDecoded()
	if err != nil {
		return err
	}
	clients, err := h.clients(c)
	if err != nil {
		return err
	}
	subnamespaces := clients.subnamespaces.Subnamespaces(member.Parent)
	// The version of a namespace does not change with its Subnamespace, but when that takes effect. So a request is
	// compared with a namespace that is as its Subnamespace says, and the Subnamespace must not have changed since.
	var current *corev1.Namespace
	var written *v1beta1.Subnamespace
	options := metav1.UpdateOptions{DryRun: c.r.URL.Query()["dryRun"], FieldManager: c.r.URL.Query().Get("fieldManager")}
	err = poll(c.r.Context(), func(ctx context.Context) (bool, error) {
		sub, err := subnamespaces.Get(ctx, realName, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if current, err = clients.namespaces.Get(ctx, realName, metav1.GetOptions{}); err != nil || !inEffect(sub, sub.Generation) {
			return false, err
		}
		current.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
		before := sub.Spec
		changed, err := h.change(c, sub, current, body)
		if err != nil || !changed {
			return err == nil, err
		}
		err = writeMetadata(c, sub, func() error {
			updated, err := subnamespaces.Update(c.r.Context(), sub, options) // a write that was sent is not interrupted
			if err == nil {
				written = updated
			}
			return err
		})
		if apierrors.IsConflict(err) {
			return false, nil
		}
		if err == nil && len(options.DryRun) > 0 {
			current.Labels = replaced(current.Labels, before.NamespaceLabels, written.Spec.NamespaceLabels)
			current.Annotations = replaced(current.Annotations, before.NamespaceAnnotations, written.Spec.NamespaceAnnotations)
		}
		return err == nil, err
	})
	switch {
	case wait.Interrupted(err) && c.r.Context().Err() == nil:
		return conflict(c.info.Name)
	case err == nil && written != nil && len(options.DryRun) == 0:
		current, err = h.seeChanged(c, clients, written)
	}
	if err != nil {
		return h.aboutNamespace(err, c.info.Name)
	}
	return h.respond(c, http.StatusOK, current)
}

// updateFullNamespace forwards an update of a namespace that is no sub-namespace. A client that writes back all that it
// has read does not remove what the view leaves out.
func (h *Handler) updateFullNamespace(c *call, realName string) error {
	if c.info.Verb != "update" || !h.Mapper.Names().Relative() {
		return h.forward(c)
	}
	body, err := c.readDecoded()
	if err != nil {
		return err
	}
	if body, _, err = h.requestMapper(c).Request(c.r.Header.Get("Content-Type"), namespaceKind, body); err != nil {
		return err
	}
	wanted, err := patched(c, nil, body)
	if err != nil {
		return err
	}
	clients, err := h.clients(c)
	if err != nil {
		return err
	}
	stored, err := clients.namespaces.Get(c.r.Context(), realName, metav1.GetOptions{})
	if err != nil {
		return h.shownError(err)
	}
	h.Mapper.KeepHidden(wanted, stored)
	if body, err = typed.Encode(wanted); err != nil {
		return err
	}
	clients.release()
	c.r = c.r.Clone(c.r.Context())
	c.setBody(body, runtime.ContentTypeJSON)
	return h.forward(c)
}

// change makes in a Subnamespace the changes of its namespace that a request asks for, if there are any.
func (h *Handler) change(c *call, sub *v1beta1.Subnamespace, current *corev1.Namespace, body []byte) (changes bool, err error) {
	shown, err := h.shown(current)
	if err != nil {
		return false, err
	}
	shown.ManagedFields = []metav1.ManagedFieldsEntry{{}} // They stay as they are, and may have too many levels for a patch.
	wanted, err := patched(c, shown, body)
	if err != nil {
		return false, err
	}
	if wanted.Name != c.info.Name || wanted.ResourceVersion != "" && wanted.ResourceVersion != current.ResourceVersion || wanted.UID != "" && wanted.UID != current.UID {
		return false, conflict(c.info.Name)
	}
	labels, annotations := changed(shown.Labels, wanted.Labels), changed(shown.Annotations, wanted.Annotations)
	c.warnKept("metadata.labels", sub.Spec.NamespaceLabels, labels)
	c.warnKept("metadata.annotations", sub.Spec.NamespaceAnnotations, annotations)
	if !apiequality.Semantic.DeepEqual(wanted.Finalizers, shown.Finalizers) || !apiequality.Semantic.DeepEqual(wanted.OwnerReferences, shown.OwnerReferences) {
		c.warn("metadata: only labels and annotations of a namespace can be changed in a view")
	}
	sub.Spec.NamespaceLabels = merged(sub.Spec.NamespaceLabels, labels)
	sub.Spec.NamespaceAnnotations = merged(sub.Spec.NamespaceAnnotations, annotations)
	return len(labels)+len(annotations) > 0, nil
}

// warnKept warns about values that the Subnamespace does not set, so that it cannot remove them. Every namespace has
// the label with its name.
func (c *call) warnKept(field string, list []v1beta1.MetaKVP, changes map[string]*string) {
	var kept []string
	for key, value := range changes {
		if value == nil && key != corev1.LabelMetadataName && !slices.ContainsFunc(list, func(pair v1beta1.MetaKVP) bool { return pair.Key == key }) {
			kept = append(kept, key)
		}
	}
	if slices.Sort(kept); len(kept) > 0 {
		c.warn(fmt.Sprintf("%s %s: not removed, because the Subnamespace of this namespace does not set it", field, strings.Join(kept, ", ")))
	}
}

// patched returns the namespace that a request of the caller asks for.
func patched(c *call, current *corev1.Namespace, body []byte) (*corev1.Namespace, error) {
	if c.info.Verb == "update" {
		object, err := typed.Decode(body, namespaceKind, c.r.URL.Query().Get("fieldValidation") == metav1.FieldValidationStrict)
		if err != nil {
			return nil, err
		}
		if ns, ok := object.(*corev1.Namespace); ok {
			return ns, nil
		}
		return nil, apierrors.NewBadRequest("the body must be a Namespace of v1")
	}
	before, err := typed.Encode(current)
	if err != nil {
		return nil, err
	}
	// A field manager that applies less than before takes nothing away: the Subnamespace has one manager.
	after, err := patch.Apply(c.r.Context(), mediaType(c.r), before, body, corev1.Namespace{})
	if err != nil {
		return nil, err
	}
	var ns corev1.Namespace
	if err := json.Unmarshal(after, &ns); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return &ns, nil
}

func conflict(name string) error {
	return apierrors.NewConflict(namespaces, name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

// seeChanged returns a namespace when the Subnamespace that was written is in effect.
func (h *Handler) seeChanged(c *call, clients *clients, written *v1beta1.Subnamespace) (*corev1.Namespace, error) {
	err := poll(c.r.Context(), func(ctx context.Context) (bool, error) {
		sub, err := clients.subnamespaces.Subnamespaces(written.Namespace).Get(ctx, written.Name, metav1.GetOptions{})
		return err == nil && inEffect(sub, written.Generation), nil
	})
	if err != nil {
		return nil, apierrors.NewTimeoutError(fmt.Sprintf("namespace %q: its labels and annotations are stored in its Subnamespace, and not in effect yet; get it again", c.info.Name), 0)
	}
	return see(c.r.Context(), clients.namespaces, written.Name, func(*corev1.Namespace) bool { return true })
}

// inEffect reports whether a namespace has what its Subnamespace sets in a generation.
func inEffect(sub *v1beta1.Subnamespace, generation int64) bool {
	return sub.Status.ObservedGeneration >= generation
}

// shown returns a namespace as it is in the view.
func (h *Handler) shown(ns *corev1.Namespace) (*corev1.Namespace, error) {
	body, err := typed.Encode(ns)
	if err == nil {
		body, err = h.Mapper.Object(mapping.Out, namespaceKind, body)
	}
	var shown corev1.Namespace
	if err == nil {
		err = json.Unmarshal(body, &shown)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return &shown, nil
}

// changed returns the values that differ, nil for those that are removed.
func changed(before, after map[string]string) map[string]*string {
	diff := map[string]*string{}
	for key, value := range after {
		if old, ok := before[key]; !ok || old != value {
			diff[key] = &value
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			diff[key] = nil
		}
	}
	return diff
}

// replaced returns the labels or annotations of a namespace whose Subnamespace sets other ones than before.
func replaced(values map[string]string, before, after []v1beta1.MetaKVP) map[string]string {
	result := map[string]string{}
	maps.Copy(result, values)
	for _, pair := range before {
		delete(result, pair.Key)
	}
	for _, pair := range after {
		result[pair.Key] = pair.Value
	}
	return result
}

// merged returns pairs with changes. Values that the Subnamespace does not set cannot be removed by it.
func merged(list []v1beta1.MetaKVP, changes map[string]*string) []v1beta1.MetaKVP {
	values := map[string]string{}
	for _, pair := range list {
		values[pair.Key] = pair.Value
	}
	for key, value := range changes {
		if value == nil {
			delete(values, key)
		} else {
			values[key] = *value
		}
	}
	return pairs(values)
}
