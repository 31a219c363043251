// Package patch applies patches where a view has to apply them itself.
package patch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// The time for JSON patches and strategic merge patches grows faster than their
// size, with the number of operations, of elements in lists, and of levels, and nothing ends it.
const (
	maxPatch       = 128 << 10 // bytes
	maxObject      = 320 << 10 // bytes of the object that is changed: annotations can have 256 KiB
	maxPatchLevels = 32
	// maxOperations is what kube-apiserver accepts, too.
	maxOperations = 10000
	// maxCopies is the size that the copies of a JSON patch may add up to, in bytes: that of a request.
	maxCopies = 3 << 20
)

// checkPatch rejects a JSON patch or a strategic merge patch that could take too long to apply.
func checkPatch(kind types.PatchType, before, body []byte) error {
	if len(before) > maxObject {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("an object that a patch of type %s changes may have %d bytes here, and this one has %d; use a merge patch, %s",
			kind, maxObject, len(before), types.MergePatchType))
	}
	if len(body) > maxPatch {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("a patch of type %s may have %d bytes here, and this one has %d; use a merge patch, %s",
			kind, maxPatch, len(body), types.MergePatchType))
	}
	return mapping.CheckJSON(body, maxPatchLevels)
}

// applyJSONPatch applies operations.
func applyJSONPatch(object, body []byte) ([]byte, error) {
	if err := checkPatch(types.JSONPatchType, object, body); err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	if len(patch) > maxOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("a JSON patch may have %d operations, and this one has %d; use a merge patch, %s",
			maxOperations, len(patch), types.MergePatchType))
	}
	limitCopies()
	after, err := patch.Apply(object)
	if err != nil {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity,
			Reason: metav1.StatusReasonInvalid, Message: "the patch cannot be applied: " + err.Error()}}
	}
	return after, nil
}

// applyMergePatch applies a merge patch (RFC 7396). Libraries decode it once for each level.
func applyMergePatch(object, body []byte) ([]byte, error) {
	if err := yamlbody.CheckValues(body); err != nil {
		return nil, err
	}
	var before, patch any
	if err := json.Unmarshal(object, &before); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &patch); err != nil {
		return nil, err
	}
	return json.Marshal(merge(before, patch))
}

func merge(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for key, value := range changes {
		if value == nil {
			delete(object, key)
		} else {
			object[key] = merge(object[key], value)
		}
	}
	return object
}

// limitCopies bounds what the copies of a JSON patch add up to, which can double an object with each operation. The
// library has one limit for the process.
var limitCopies = sync.OnceFunc(func() { jsonpatch.AccumulatedCopySizeLimit = maxCopies })

// Apply returns an object as a patch changes it, both in JSON. The value is an object of the Go type, which says how
// lists are merged in strategic merge patches. What a field manager leaves out that it has set before stays in an apply
// patch. Errors are errors of the API, also for an object of too many values, which are decoded into maps. With some
// JSON patches the library panics: operations that have no value, or test null in a list.
func Apply(ctx context.Context, mediaType string, before, patch []byte, value any) (after []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			klog.FromContext(ctx).Error(nil, "A patch is rejected because applying it panicked", "panic", cause)
			err = apierrors.NewBadRequest("the patch cannot be applied: each operation that tests or replaces needs a value, and null in a list cannot be tested")
		}
	}()
	if n := yamlbody.Values(before, true); n > yamlbody.MaxValues {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("an object that a patch changes may have %d values here, and this one has %d; remove labels, annotations or other values, or replace it with an object that has fewer",
			yamlbody.MaxValues, n))
	}
	if yamlbody.Levels(before) > yamlbody.MaxLevels {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("an object that a patch changes may have %d levels here, also in its managed fields; replace it with an object whose metadata.managedFields is [{}]", yamlbody.MaxLevels))
	}
	switch kind := types.PatchType(mediaType); kind {
	case types.JSONPatchType:
		after, err = applyJSONPatch(before, patch)
	case types.MergePatchType:
		after, err = applyMergePatch(before, patch)
	case types.StrategicMergePatchType:
		if err = checkPatch(kind, before, patch); err == nil {
			after, err = strategicpatch.StrategicMergePatch(before, patch, value)
		}
	case types.ApplyYAMLPatchType:
		if err = yamlbody.Check(patch); err == nil {
			patch, err = yaml.YAMLToJSON(patch)
		}
		if err == nil {
			after, err = applyMergePatch(before, patch)
		}
	default:
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType,
			Reason: metav1.StatusReasonUnsupportedMediaType, Message: fmt.Sprintf("the body of the request was in an unknown format: %q", kind)}}
	}
	var known apierrors.APIStatus
	if err != nil && !errors.As(err, &known) {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return after, err
}
