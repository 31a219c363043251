package typed

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// inProtobuf returns an object in protobuf.
func inProtobuf(t *testing.T, kind schema.GroupVersionKind, object interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	message, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	version, name := kind.ToAPIVersionAndKind()
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: name}, Raw: message}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), envelope...)
}

func TestAllKindsAreDecodedInBothForms(t *testing.T) {
	for kind := range scheme.AllKnownTypes() {
		object, err := scheme.New(kind)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Protobuf(inProtobuf(t, kind, object.(interface{ Marshal() ([]byte, error) }))); err != nil {
			t.Errorf("%s in protobuf: %v", kind, err)
		}
		body, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		for _, isStrict := range []bool{false, true} {
			if decoded, err := Decode(body, kind, isStrict); err != nil || reflect.TypeOf(decoded) != reflect.TypeOf(object) {
				t.Errorf("%s in JSON: %v %v", kind, decoded, err)
			}
		}
	}
}

// Kinds are compared before bodies are decoded: a quantity can take forever, and a list of empty items
// becomes a thousand times as large.
func TestOtherKindsAreNotDecoded(t *testing.T) {
	namespace, role := corev1.SchemeGroupVersion.WithKind("Namespace"), rbacv1.SchemeGroupVersion.WithKind("Role")
	const limits = `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"a"},"spec":{"limits":[{"type":"Pod","max":{"cpu":"1e-2147483647"}}]}}`
	const other = "the kind of the body must be that of the resource in the URL"
	for name, test := range map[string]struct {
		body []byte
		bad  func(error) bool
		want string
	}{
		"a quantity":  {[]byte(limits), apierrors.IsBadRequest, other},
		"in YAML":     {[]byte("apiVersion: v1\nkind: PodList\nitems: [{}]\n"), apierrors.IsBadRequest, other},
		"in protobuf": {inProtobuf(t, corev1.SchemeGroupVersion.WithKind("PodList"), &corev1.PodList{Items: make([]corev1.Pod, 10)}), apierrors.IsBadRequest, other},
		"no kind":     {inProtobuf(t, schema.GroupVersionKind{}, &corev1.Namespace{}), apierrors.IsBadRequest, other},
		"no envelope": {[]byte("k8s\x00\xff"), apierrors.IsBadRequest, "EOF"},
		"many managed fields": {inProtobuf(t, namespace, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{ManagedFields: make([]metav1.ManagedFieldsEntry, yamlbody.MaxValues)}}),
			apierrors.IsRequestEntityTooLargeError, "at most 32768 fields; send JSON"},
		"many rules": {inProtobuf(t, role, &rbacv1.Role{Rules: make([]rbacv1.PolicyRule, yamlbody.MaxValues)}), apierrors.IsRequestEntityTooLargeError, "at most 32768 fields"},
	} {
		for _, isStrict := range []bool{false, true} {
			if _, err := Decode(test.body, namespace, isStrict); err == nil || !test.bad(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := Protobuf([]byte(limits)); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "not an object in protobuf") {
		t.Errorf("JSON in place of protobuf: %v", err)
	}
}
