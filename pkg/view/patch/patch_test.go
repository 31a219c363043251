package patch

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// These would take from seconds to minutes.
func TestPatchesThatTakeTooLongAreRejected(t *testing.T) {
	namespace := []byte(`{"metadata":{"name":"dev"}}`)
	var references strings.Builder
	for i := range 15000 {
		fmt.Fprintf(&references, `{"uid":"%d"},`, i)
	}
	list := "[" + strings.TrimSuffix(references.String(), ",") + "]"
	nested := strings.Repeat(`{"a":`, 5000) + `"` + strings.Repeat("x", 2<<20) + `"` + strings.Repeat("}", 5000)
	large := []byte(`{"metadata":{"name":"dev","finalizers":[` + strings.TrimSuffix(strings.Repeat(`"a1b2c3d4e5f6",`, 30_000), ",") + `]}}`)
	many := []byte(`{"a":[` + strings.TrimSuffix(strings.Repeat(`{"":0},`, 40_000), ",") + `]}`)
	if _, err := Apply(t.Context(), string(types.MergePatchType), namespace, many, corev1.Namespace{}); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("a patch with many values: %v", err)
	}
	for _, kind := range []types.PatchType{types.MergePatchType, types.ApplyYAMLPatchType, types.StrategicMergePatchType, types.JSONPatchType} {
		if _, err := Apply(t.Context(), string(kind), many, []byte(`{}`), corev1.Namespace{}); !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), "remove labels") {
			t.Errorf("%s of an object with many values: %v", kind, err)
		}
	}
	deep := []byte(`{"metadata":{"managedFields":[{"fieldsV1":` + strings.Repeat(`{"f:a":`, 1000) + "{}" + strings.Repeat("}", 1000) + "}]}}")
	if _, err := Apply(t.Context(), string(types.MergePatchType), deep, []byte(`{}`), corev1.Namespace{}); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "metadata.managedFields") {
		t.Errorf("a patch of an object of many levels: %v", err)
	}
	for _, kind := range []types.PatchType{types.JSONPatchType, types.StrategicMergePatchType} {
		if _, err := Apply(t.Context(), string(kind), large, []byte(`{"metadata":{"finalizers":["z"]}}`), corev1.Namespace{}); !apierrors.IsRequestEntityTooLargeError(err) {
			t.Errorf("%s of a large object: %v", kind, err)
		}
	}
	for _, test := range []struct {
		kind types.PatchType
		body string
		code int
	}{
		{types.JSONPatchType, "[" + strings.TrimSuffix(strings.Repeat(`{"op":"add","path":"/spec/finalizers/0","value":0},`, 60000), ",") + "]", http.StatusRequestEntityTooLarge},
		{types.JSONPatchType, "[" + strings.TrimSuffix(strings.Repeat(`{},`, maxOperations+1), ",") + "]", http.StatusRequestEntityTooLarge},
		{types.JSONPatchType, `[{"op":"add","path":"/x","value":` + strings.Repeat("[", maxPatchLevels) + strings.Repeat("]", maxPatchLevels) + `}]`, http.StatusBadRequest},
		{types.StrategicMergePatchType, `{"metadata":{"ownerReferences":` + list + `,"$setElementOrder/ownerReferences":` + list + `}}`, http.StatusRequestEntityTooLarge},
		{types.MergePatchType, `{"metadata":{"labels":{"a":"b"}},"x":` + nested + `}`, 0},
		{types.JSONPatchType, `[{"op":"test","path":"/metadata/name","value":"other"}]`, http.StatusUnprocessableEntity},
	} {
		start := time.Now()
		got, err := Apply(t.Context(), string(test.kind), namespace, []byte(test.body), corev1.Namespace{})
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s %.60s: took %s", test.kind, test.body, took)
		}
		var status apierrors.APIStatus
		switch {
		case test.code == 0 && (err != nil || !strings.Contains(string(got), `"labels":{"a":"b"}`)):
			t.Errorf("%s %.60s: %v", test.kind, test.body, err)
		case test.code != 0 && (!errors.As(err, &status) || int(status.Status().Code) != test.code):
			t.Errorf("%s %.60s: %.300v", test.kind, test.body, err)
		case test.code == http.StatusRequestEntityTooLarge && !strings.Contains(err.Error(), "use a merge patch"):
			t.Errorf("%s: %v", test.kind, err)
		}
	}
}
