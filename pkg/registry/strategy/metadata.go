package strategy

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	hncvalidation "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/ownerref"
)

// The limits of metadata, which Kubernetes does not limit, or to much more. All servers keep it in memory.
const (
	maxLabels          = 64
	maxAnnotations     = 256
	maxFinalizers      = 32
	maxOwnerReferences = 32
	maxManagers        = 64
	maxMetadataBytes   = 64 << 10
	maxGenerateName    = 253 // as long as a name
	// maxAnnotationsBytes is more than kubectl's last applied configuration of the largest hierarchy.
	maxAnnotationsBytes = 64 << 10
	// maxDefinitionAnnotationsBytes is that of Kubernetes, which the last applied configuration of a
	// CustomResourceDefinition needs.
	maxDefinitionAnnotationsBytes = 256 << 10
	// maxManagedFieldsBytes is several times what managers have who each set everything that an object may contain.
	maxManagedFieldsBytes = 128 << 10
	// maxManagedFieldsLevels is more than our objects have. Lists have more levels than their objects, and decoders
	// accept 10,000: whoever lists deep objects could not read those of others.
	maxManagedFieldsLevels = 64
)

// MetadataLimits is an admission plugin. It comes before the validation of updates, whose cost is quadratic in the
// number of errors, and which logs each error that it finds twice.
type MetadataLimits struct{}

var (
	_ admission.MutationInterface   = MetadataLimits{}
	_ admission.ValidationInterface = MetadataLimits{}
)

// Handles implements admission.Interface.
func (MetadataLimits) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Update
}

// Admit rejects an object whose metadata exceed the limits. It changes nothing.
func (MetadataLimits) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	return reject(ctx, a, validateMetadata)
}

// Validate rejects an object whose managed fields are too large or too deep, or could not be read again. It comes after
// the validation of what they manage, which is the cause.
func (MetadataLimits) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	return reject(ctx, a, validateManagedFields)
}

func reject(ctx context.Context, a admission.Attributes, validate func(obj, old metav1.Object) field.ErrorList) error {
	obj, err := meta.Accessor(a.GetObject())
	if err != nil {
		return nil //nolint:nilerr // What has no metadata has none that are too large.
	}
	// The propagator is trusted: it adds to what others have stored.
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	old, err := meta.Accessor(a.GetOldObject())
	if err != nil {
		old = &metav1.ObjectMeta{}
	}
	if errs := validate(obj, old); len(errs) > 0 {
		return apierrors.NewInvalid(a.GetKind().GroupKind(), obj.GetName(), errs)
	}
	return nil
}

const resetManagedFields = "; to reset them, set them to [{}]"

// validateMetadata returns an error for each limit that an object exceeds, and otherwise the first errors of what the
// generic validation would repeat in full. Metadata that is stored may exceed limits, but not grow; old is empty when the
// object is created.
func validateMetadata(obj, old metav1.Object) field.ErrorList {
	path := field.NewPath("metadata")
	var errs field.ErrorList
	for _, list := range []struct {
		name              string
		now, before, most int
		remedy            string
	}{
		{"labels", len(obj.GetLabels()), len(old.GetLabels()), maxLabels, ""},
		{"annotations", len(obj.GetAnnotations()), len(old.GetAnnotations()), maxAnnotations, ""},
		{"finalizers", len(obj.GetFinalizers()), len(old.GetFinalizers()), maxFinalizers, ""},
		{"ownerReferences", len(obj.GetOwnerReferences()), len(old.GetOwnerReferences()), maxOwnerReferences, ""},
		{"managedFields", len(obj.GetManagedFields()), len(old.GetManagedFields()), maxManagers, resetManagedFields},
	} {
		if list.now > max(list.most, list.before) {
			err := field.TooMany(path.Child(list.name), list.now, list.most)
			err.Detail += list.remedy
			errs = append(errs, err)
		}
	}
	if now := len(obj.GetGenerateName()); now > max(maxGenerateName, len(old.GetGenerateName())) {
		errs = append(errs, field.TooLong(path.Child("generateName"), "", maxGenerateName))
	}
	most := maxAnnotationsBytes
	if _, ok := obj.(*hnc.ViewDefinition); ok {
		most = maxDefinitionAnnotationsBytes
	}
	if bytes := annotationsBytes(obj); bytes > max(most, annotationsBytes(old)) {
		errs = append(errs, field.TooLong(path.Child("annotations"), "", most))
	}
	if bytes := metadataBytes(obj); bytes > max(maxMetadataBytes, metadataBytes(old)) {
		err := field.TooLong(path, "", maxMetadataBytes)
		err.Detail += " in labels, finalizers and ownerReferences; shorten them"
		errs = append(errs, err)
	}
	for i, entry := range obj.GetManagedFields() {
		if len(entry.Manager) > metav1validation.FieldManagerMaxLength {
			errs = append(errs, field.TooLong(path.Child("managedFields").Index(i).Child("manager"), "", metav1validation.FieldManagerMaxLength))
		}
	}
	if len(errs) == 0 {
		owners := slices.Clone(obj.GetOwnerReferences())
		for i := range owners {
			if ownerref.IsNamespace(owners[i]) { // Hooks may replace it, and what is missing is not quoted.
				owners[i].Name, owners[i].UID = cmp.Or(owners[i].Name, "-"), cmp.Or(owners[i].UID, "-")
			}
		}
		errs = slices.Concat(
			metav1validation.ValidateLabels(obj.GetLabels(), path.Child("labels")),
			apivalidation.ValidateAnnotations(obj.GetAnnotations(), path.Child("annotations")),
			apivalidation.ValidateOwnerReferences(owners, path.Child("ownerReferences")),
			apivalidation.ValidateFinalizers(obj.GetFinalizers(), path.Child("finalizers")),
			metav1validation.ValidateManagedFields(obj.GetManagedFields(), path.Child("managedFields")),
		)
	}
	return hncvalidation.Bound(errs)
}

// validateManagedFields returns an error if the managed fields of an object exceed their limit, and have grown, or if
// they are too deep or have a time that cannot be decoded again.
func validateManagedFields(obj, old metav1.Object) field.ErrorList {
	for i, entry := range obj.GetManagedFields() {
		path := field.NewPath("metadata", "managedFields").Index(i)
		if tooDeep(entry) {
			return field.ErrorList{field.Invalid(path.Child("fieldsV1"), "",
				fmt.Sprintf("may have %d levels; leave the entry out", maxManagedFieldsLevels))}
		}
		if !decodable(entry.Time) {
			return field.ErrorList{field.Invalid(path.Child("time"), "", "its year in UTC must be between 0 and 9999; leave the entry out")}
		}
	}
	if managedFieldsBytes(obj) <= max(maxManagedFieldsBytes, managedFieldsBytes(old)) {
		return nil
	}
	err := field.TooLong(field.NewPath("metadata", "managedFields"), "", maxManagedFieldsBytes)
	err.Detail += resetManagedFields
	return field.ErrorList{err}
}

// decodable reports whether a time can be decoded after it has been encoded. Times have a time zone when they are
// decoded, and are encoded in UTC, where 9999-12-31T23:59:59-01:00 is in a year of five digits. Whoever lists or watches
// a kind could not read any object of it.
func decodable(t *metav1.Time) bool {
	return t == nil || t.UTC().Year() >= 0 && t.UTC().Year() <= 9999
}

// Shallow removes the managed fields of an object that are too deep, which earlier versions have stored.
func Shallow(obj metav1.Object) {
	if fields := obj.GetManagedFields(); slices.ContainsFunc(fields, tooDeep) {
		obj.SetManagedFields(slices.DeleteFunc(slices.Clone(fields), tooDeep))
	}
}

// tooDeep reports whether managed fields have too many levels.
func tooDeep(entry metav1.ManagedFieldsEntry) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	levels, text := 0, false
	raw := entry.FieldsV1.GetRawBytes()
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			text = !text
		case text && c == '\\':
			i++
		case text:
		case c == '{', c == '[':
			if levels++; levels > maxManagedFieldsLevels {
				return true
			}
		case c == '}', c == ']':
			levels--
		}
	}
	return false
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
