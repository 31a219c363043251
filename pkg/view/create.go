package view

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
)

// createNamespace creates a namespace as a Subnamespace of the view's root, by the caller, and returns it when the
// caller can use it. It serves POST, and server-side apply of a namespace that the view does not have.
func (h *Handler) createNamespace(c *call) error {
	ns, err := decodeNamespace(c)
	if err != nil {
		return err
	}
	ctx, query := c.r.Context(), c.r.URL.Query()
	clients, err := h.clients(c)
	if err != nil {
		return err
	}
	name := ns.Name
	if name == "" && ns.GenerateName != "" {
		name = ns.GenerateName + rand.String(5)
	}
	realName, err := h.Mapper.Names().Create(name)
	if err != nil {
		return err
	}
	sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: realName, Namespace: h.Root}}
	delete(ns.Labels, corev1.LabelMetadataName) // every namespace has it
	sub.Spec.NamespaceLabels, sub.Spec.NamespaceAnnotations = pairs(ns.Labels), pairs(ns.Annotations)
	options := metav1.CreateOptions{DryRun: query["dryRun"], FieldManager: query.Get("fieldManager")}
	err = writeMetadata(c, sub, func() error {
		_, err := clients.subnamespaces.Subnamespaces(h.Root).Create(ctx, sub, options)
		return err
	})
	switch {
	case apierrors.IsConflict(err):
		return apierrors.NewAlreadyExists(namespaces, name)
	case err != nil:
		return h.aboutNamespace(err, name)
	}
	if len(options.DryRun) > 0 {
		ns.Name, ns.GenerateName = name, ""
		ns.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
		writeJSON(c.w, http.StatusCreated, ns)
		return nil
	}
	seen, err := see(ctx, clients.namespaces, realName, func(*corev1.Namespace) bool { return true })
	if err == nil {
		// Its name is that of a member from now on.
		_, err = h.Members.Get(ctx, realName)
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the URL in the cluster
		}
		// Without Retry-After: clients would repeat the creation by themselves, and be told that the namespace exists.
		return apierrors.NewTimeoutError(fmt.Sprintf("namespace %q is created, and you can't use it yet: %s; get it again", name, h.Mapper.Message(err.Error())), 0)
	}
	return h.respond(c, http.StatusCreated, seen)
}

// decodeNamespace returns the namespace in the body of a request.
func decodeNamespace(c *call) (*corev1.Namespace, error) {
	body, err := c.readDecoded()
	if err != nil {
		return nil, err
	}
	object, err := typed.Decode(body, corev1.SchemeGroupVersion.WithKind("Namespace"), c.r.URL.Query().Get("fieldValidation") == metav1.FieldValidationStrict)
	if err != nil {
		return nil, err
	}
	ns, ok := object.(*corev1.Namespace)
	switch {
	case !ok:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the body is of kind %s, and must be a Namespace of v1", object.GetObjectKind().GroupVersionKind().Kind))
	case ns.Namespace != "":
		return nil, apierrors.NewBadRequest("metadata.namespace: must be empty, namespaces are not in a namespace")
	case validation.ValidateAnnotationsSize(ns.Labels) != nil || validation.ValidateAnnotationsSize(ns.Annotations) != nil:
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("metadata: labels and annotations may have at most %d bytes each", validation.TotalAnnotationSizeLimitB))
	case c.info.Name != "" && ns.Name != "" && ns.Name != c.info.Name:
		return nil, apierrors.NewBadRequest("metadata.name: must be the name in the URL")
	}
	if c.info.Name != "" && c.info.Verb != "create" {
		ns.Name = c.info.Name
	}
	return ns, nil
}

// pairs returns labels or annotations as a Subnamespace has them.
func pairs(values map[string]string) []v1beta1.MetaKVP {
	var list []v1beta1.MetaKVP
	for _, key := range slices.Sorted(maps.Keys(values)) {
		list = append(list, v1beta1.MetaKVP{Key: key, Value: values[key]})
	}
	return list
}

// writeMetadata writes a Subnamespace. If the cluster does not let hierarchies set some of its labels and annotations,
// it leaves these out, and warns.
func writeMetadata(c *call, sub *v1beta1.Subnamespace, write func() error) error {
	err := write()
	dropped := append(drop(c, err, "labels", "spec.namespaceLabels", &sub.Spec.NamespaceLabels),
		drop(c, err, "annotations", "spec.namespaceAnnotations", &sub.Spec.NamespaceAnnotations)...)
	if len(dropped) > 0 {
		return write()
	}
	return err
}

// drop removes from a list the pairs whose keys an error names, and returns them.
func drop(c *call, err error, what, field string, list *[]v1beta1.MetaKVP) (dropped []string) {
	*list = slices.DeleteFunc(*list, func(pair v1beta1.MetaKVP) bool {
		named := slices.ContainsFunc(causes(err), func(cause metav1.StatusCause) bool {
			return cause.Field == field && strings.HasPrefix(cause.Message, fmt.Sprintf("Invalid value: %q:", pair.Key))
		})
		if named {
			dropped = append(dropped, pair.Key)
		}
		return named
	})
	if len(dropped) > 0 {
		c.warn(fmt.Sprintf("metadata.%s %s: not set, because hierarchies do not manage them in this cluster", what, strings.Join(dropped, ", ")))
	}
	return dropped
}

// causes returns why an object is invalid, nil if the error is another one.
func causes(err error) []metav1.StatusCause {
	var api apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &api) || api.Status().Details == nil {
		return nil
	}
	return api.Status().Details.Causes
}

// aboutNamespace returns an error about a Subnamespace as one about its namespace, by its name in the view.
func (h *Handler) aboutNamespace(err error, name string) error {
	var api *apierrors.StatusError
	if !errors.As(err, &api) || api.ErrStatus.Details == nil {
		return err
	}
	status, realName := api.ErrStatus, h.Mapper.Names().In(name)
	details := *status.Details
	details.Group, details.Kind, details.Name, details.UID = "", namespaces.Resource, name, ""
	details.Causes = slices.Clone(details.Causes)
	for i := range details.Causes {
		details.Causes[i].Message = h.Mapper.MessageAbout(details.Causes[i].Message, realName)
	}
	status.Details, status.Message = &details, h.Mapper.MessageAbout(status.Message, realName)
	return &apierrors.StatusError{ErrStatus: status}
}
