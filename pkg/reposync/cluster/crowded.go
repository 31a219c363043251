package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/dynamic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// crowded reports whether an object cannot be applied because it is too large, possibly by what others have added: its
// annotations, or all of it for etcd.
func crowded(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	s := status.Status()
	return strings.Contains(s.Message, "etcdserver: request is too large") || strings.Contains(s.Message, "trying to send message larger than max") ||
		s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool {
			return c.Field == "metadata.annotations" && c.Type == metav1.CauseType(field.ErrorTypeTooLong)
		})
}

// unreadable reports whether an object cannot be applied because kube-apiserver cannot decode a time again that it has
// encoded, possibly one that others have written to its managed fields: in the year 10000, for example.
func unreadable(err error) bool {
	return strings.Contains(err.Error(), "failed to convert new object") && strings.Contains(err.Error(), `parsing time "`)
}

// undecodable reports whether a patch is rejected because of such a time.
func undecodable(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), `parsing time "`)
}

// tooDeep reports whether a merge patch has failed because the present object cannot be decoded in JSON: a template may have
// managed fields with too many levels.
func tooDeep(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "Invalid JSON Document")
}

// fromTree are annotations of namespaces that only the propagator may write.
var fromTree = []string{
	hnc.AnnotationSubnamespaceOf, hnc.AnnotationAncestry, hnc.AnnotationAbstractAncestors, hnc.AnnotationCreatorPending, hnc.AnnotationLimitsPending,
	hnc.AnnotationInheritedPodSecurity,
}

// room returns a merge patch that takes from an object what the one of the repository does not set, except for what the
// servers set: only its annotations, or everything, with the entries of field managers, which may have any size. Lists
// become those of the repository. The field manager keeps an entry, for the label only: without any, the API server
// lets another manager own what the next application sets, too, and keeps it when it leaves the repository.
func room(found *unstructured.Unstructured, o *plan.Object, manager string, annotations bool) map[string]any {
	fields, content := []string{"annotations"}, map[string]any{}
	if !annotations {
		fields, content = append(fields, "labels", "finalizers", "ownerReferences"), maps.Clone(found.Object)
		delete(content, "status")
	}
	metadata, _ := found.Object["metadata"].(map[string]any)
	of := map[string]any{}
	for _, field := range fields {
		// A policy limits the labels of namespaces.
		if value, exists := metadata[field]; exists && (field != "labels" || o.Kind != object.Namespace) {
			of[field] = value
		}
	}
	content["metadata"] = of
	patch := beyond(content, o.Content().Object)
	inner, _ := patch["metadata"].(map[string]any)
	inner["resourceVersion"] = metadata["resourceVersion"]
	if !annotations {
		inner["managedFields"] = entriesOf(o.Declared.GroupVersion(), manager)
	}
	if removed, ok := inner["annotations"].(map[string]any); ok && o.Kind == object.Namespace {
		for _, key := range fromTree {
			delete(removed, key)
		}
		if _, set := removed[hnc.AnnotationManagedBy]; set {
			// Its value does not matter, as long as there is one.
			removed[hnc.AnnotationManagedBy] = names.Shorten(found.GetAnnotations()[hnc.AnnotationManagedBy])
		}
	}
	return patch
}

// patchable returns an object to which kube-apiserver applies merge patches, which it does not while the managed fields
// cannot be decoded in JSON: they may be too deep, or have a time as unreadable says. The client reads such an object as one
// without managed fields, and they are reset, as are those of an object that has none.
func patchable(ctx context.Context, client dynamic.ResourceInterface, found *unstructured.Unstructured, o *plan.Object, manager string) (*unstructured.Unstructured, error) {
	if found.GetManagedFields() != nil {
		return found, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": found.GetResourceVersion(), "managedFields": entriesOf(o.Declared.GroupVersion(), manager)}})
	if err != nil {
		return nil, err
	}
	reset, err := client.Patch(ctx, o.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsUnsupportedMediaType(err) { // Custom resources are never too deep.
		return found, nil
	}
	return reset, err
}

// alone returns the object of the repository, as an update of the one found that others have added nothing to.
func alone(found *unstructured.Unstructured, o *plan.Object, manager string) *unstructured.Unstructured {
	content := o.Content()
	content.SetResourceVersion(found.GetResourceVersion())
	content.Object["metadata"].(map[string]any)["managedFields"] = entriesOf(o.Declared.GroupVersion(), manager)
	return content
}

// entriesOf returns managed fields with an entry of the field manager, for the label only.
func entriesOf(version schema.GroupVersion, manager string) []any {
	return []any{map[string]any{
		"manager": manager, "operation": string(metav1.ManagedFieldsOperationApply), "apiVersion": version.String(), "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{"f:" + hnc.LabelRepositorySync: map[string]any{}}}},
	}}
}

// beyond returns a merge patch that takes from an object what another one does not have, and replaces its lists.
func beyond(found, wanted map[string]any) map[string]any {
	patch := map[string]any{}
	for key, value := range found {
		want, exists := wanted[key]
		inner, isMap := value.(map[string]any)
		_, isList := value.([]any)
		within, _ := want.(map[string]any)
		switch {
		case !exists:
			patch[key] = nil
		case isMap:
			patch[key] = beyond(inner, within)
		case isList:
			patch[key] = want
		}
	}
	return patch
}
