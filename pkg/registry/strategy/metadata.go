package strategy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// The limits of metadata, which Kubernetes does not limit, or to much more. All servers keep it in memory.
const (
	maxLabels          = 64
	maxFinalizers      = 32
	maxOwnerReferences = 32
	maxMetadataBytes   = 64 << 10
	maxGenerateName    = 253 // as long as a name
	// maxAnnotationsBytes is more than kubectl's last applied configuration of the largest hierarchy.
	maxAnnotationsBytes = 64 << 10
	// maxManagedFieldsBytes is several times what managers have who each set everything that an object may contain.
	maxManagedFieldsBytes = 128 << 10
)

// ValidateMetadata returns an error for each limit that an object exceeds. Metadata that is stored may exceed limits,
// but not grow; old is nil when the object is created. The propagator is trusted: it adds to what others have stored.
func ValidateMetadata(ctx context.Context, obj, old metav1.Object) field.ErrorList {
	if user, ok := genericapirequest.UserFrom(ctx); ok && user.GetName() == hnc.PropagatorUser {
		return nil
	}
	if old == nil {
		old = &metav1.ObjectMeta{}
	}
	path := field.NewPath("metadata")
	var errs field.ErrorList
	for _, list := range []struct {
		name              string
		now, before, most int
	}{
		{"labels", len(obj.GetLabels()), len(old.GetLabels()), maxLabels},
		{"finalizers", len(obj.GetFinalizers()), len(old.GetFinalizers()), maxFinalizers},
		{"ownerReferences", len(obj.GetOwnerReferences()), len(old.GetOwnerReferences()), maxOwnerReferences},
	} {
		if list.now > max(list.most, list.before) {
			errs = append(errs, field.TooMany(path.Child(list.name), list.now, list.most))
		}
	}
	if now := len(obj.GetGenerateName()); now > max(maxGenerateName, len(old.GetGenerateName())) {
		errs = append(errs, field.TooLong(path.Child("generateName"), "", maxGenerateName))
	}
	if bytes := annotationsBytes(obj); bytes > max(maxAnnotationsBytes, annotationsBytes(old)) {
		errs = append(errs, field.TooLong(path.Child("annotations"), "", maxAnnotationsBytes))
	}
	if bytes := managedFieldsBytes(obj); bytes > max(maxManagedFieldsBytes, managedFieldsBytes(old)) {
		err := field.TooLong(path.Child("managedFields"), "", maxManagedFieldsBytes)
		err.Detail += "; to reset them, set them to [{}]"
		errs = append(errs, err)
	}
	if bytes := metadataBytes(obj); bytes > max(maxMetadataBytes, metadataBytes(old)) {
		err := field.TooLong(path, "", maxMetadataBytes)
		err.Detail += " in labels, finalizers and ownerReferences; shorten them"
		errs = append(errs, err)
	}
	return errs
}

// annotationsBytes returns the size of the annotations.
func annotationsBytes(obj metav1.Object) int {
	n := 0
	for key, value := range obj.GetAnnotations() {
		n += len(key) + len(value)
	}
	return n
}

// managedFieldsBytes returns the size of the managed fields.
func managedFieldsBytes(obj metav1.Object) int {
	n := 0
	for _, entry := range obj.GetManagedFields() {
		n += entry.Size()
	}
	return n
}

// metadataBytes returns the size of labels, finalizers and owner references.
func metadataBytes(obj metav1.Object) int {
	n := 0
	for key, value := range obj.GetLabels() {
		n += len(key) + len(value)
	}
	for _, finalizer := range obj.GetFinalizers() {
		n += len(finalizer)
	}
	for _, owner := range obj.GetOwnerReferences() {
		n += len(owner.APIVersion) + len(owner.Kind) + len(owner.Name) + len(owner.UID)
	}
	return n
}
