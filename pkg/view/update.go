package view

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hncclient "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/typed/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// updateNamespace changes the labels and annotations of a namespace: of a sub-namespace those of its Subnamespace, by the
// caller, and of any other as kube-apiserver allows the caller to. Nothing else of a namespace changes.
func (h *Handler) updateNamespace(c *call, member *Member, realName string) error {
	if !member.Subnamespace {
		return h.forward(c)
	}
	ctx, name := c.r.Context(), c.info.Name
	body, err := readBody(c.r)
	if err != nil {
		return err
	}
	clients, err := h.clients(c)
	if err != nil {
		return err
	}
	current, err := clients.namespaces.Get(ctx, realName, metav1.GetOptions{})
	if err != nil {
		return h.aboutNamespace(err, name)
	}
	current.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
	shown, err := h.shown(current)
	if err != nil {
		return err
	}
	wanted, err := patched(c, shown, body)
	if err != nil {
		return err
	}
	if wanted.Name != name || wanted.ResourceVersion != "" && wanted.ResourceVersion != current.ResourceVersion || wanted.UID != "" && wanted.UID != current.UID {
		return apierrors.NewConflict(namespaces, name, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	labels, annotations := changed(shown.Labels, wanted.Labels), changed(shown.Annotations, wanted.Annotations)
	options := metav1.UpdateOptions{DryRun: c.r.URL.Query()["dryRun"], FieldManager: c.r.URL.Query().Get("fieldManager")}
	if len(labels)+len(annotations) > 0 {
		written, err := h.updateSubnamespace(c, clients.subnamespaces.Subnamespaces(member.Parent), realName, labels, annotations, options)
		if err != nil {
			return h.aboutNamespace(err, name)
		}
		if len(options.DryRun) == 0 {
			seen, err := see(ctx, clients.namespaces, realName, func(ns *corev1.Namespace) bool { return applied(ns, written) })
			if err != nil {
				return apierrors.NewTimeoutError(fmt.Sprintf("namespace %q: its labels and annotations are stored in its Subnamespace, and not in effect yet; get it again", name), 1)
			}
			current = seen
		}
	}
	return h.respond(c, http.StatusOK, current)
}

// shown returns a namespace as it is in the view.
func (h *Handler) shown(ns *corev1.Namespace) (*corev1.Namespace, error) {
	body, err := json.Marshal(ns)
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

// limitCopies bounds what the copies of a JSON patch add up to, which can double an object with each operation. The
// library has one limit for the process.
var limitCopies = sync.OnceFunc(func() { jsonpatch.AccumulatedCopySizeLimit = maxBody })

// patched returns the namespace that a request of the caller asks for. With some JSON patches, the library panics:
// operations that have no value, or test null in a list.
func patched(c *call, current *corev1.Namespace, body []byte) (_ *corev1.Namespace, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			klog.FromContext(c.r.Context()).Error(nil, "A patch is rejected because applying it panicked", "panic", cause)
			err = apierrors.NewBadRequest("the patch cannot be applied: each operation that tests or replaces needs a value, and null in a list cannot be tested")
		}
	}()
	limitCopies()
	if c.info.Verb == "update" {
		object, err := decode(body, corev1.SchemeGroupVersion.WithKind("Namespace"), c.r.URL.Query().Get("fieldValidation") == metav1.FieldValidationStrict)
		if err != nil {
			return nil, err
		}
		if ns, ok := object.(*corev1.Namespace); ok {
			return ns, nil
		}
		return nil, apierrors.NewBadRequest("the body must be a Namespace of v1")
	}
	before, err := json.Marshal(current)
	if err != nil {
		return nil, err
	}
	var after []byte
	switch kind := mediaType(c.r); types.PatchType(kind) {
	case types.JSONPatchType:
		var patch jsonpatch.Patch
		if patch, err = jsonpatch.DecodePatch(body); err == nil {
			after, err = patch.Apply(before)
		}
	case types.MergePatchType:
		after, err = jsonpatch.MergePatch(before, body)
	case types.StrategicMergePatchType:
		after, err = strategicpatch.StrategicMergePatch(before, body, corev1.Namespace{})
	case types.ApplyYAMLPatchType:
		// What a field manager leaves out that it has set before stays: the Subnamespace has one manager.
		if body, err = yaml.YAMLToJSON(body); err == nil {
			after, err = jsonpatch.MergePatch(before, body)
		}
	default:
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType,
			Reason: metav1.StatusReasonUnsupportedMediaType, Message: fmt.Sprintf("the body of the request was in an unknown format: %q", kind)}}
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	var ns corev1.Namespace
	if err := json.Unmarshal(after, &ns); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return &ns, nil
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

// updateSubnamespace changes the labels and annotations that a Subnamespace sets, and returns it.
func (h *Handler) updateSubnamespace(c *call, client hncclient.SubnamespaceInterface, name string, labels, annotations map[string]*string, options metav1.UpdateOptions) (*v1beta1.Subnamespace, error) {
	var sub *v1beta1.Subnamespace
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var err error
		if sub, err = client.Get(c.r.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		sub.Spec.NamespaceLabels = merged(sub.Spec.NamespaceLabels, labels)
		sub.Spec.NamespaceAnnotations = merged(sub.Spec.NamespaceAnnotations, annotations)
		return writeMetadata(c, sub, func() error {
			_, err := client.Update(c.r.Context(), sub, options)
			return err
		})
	})
	return sub, err
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

// applied reports whether a namespace has what its Subnamespace sets.
func applied(ns *corev1.Namespace, sub *v1beta1.Subnamespace) bool {
	missing := func(values map[string]string) func(v1beta1.MetaKVP) bool {
		return func(p v1beta1.MetaKVP) bool { value, ok := values[p.Key]; return !ok || value != p.Value }
	}
	return !slices.ContainsFunc(sub.Spec.NamespaceLabels, missing(ns.Labels)) &&
		!slices.ContainsFunc(sub.Spec.NamespaceAnnotations, missing(ns.Annotations))
}
