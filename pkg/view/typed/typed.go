// Package typed decodes the bodies that views decode into Go types. A body states its kind, and may be much larger when
// it is decoded, or take forever, so other kinds than these are not decoded.
package typed

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

var (
	scheme          = newScheme()
	lenient, strict = serializer.NewCodecFactory(scheme).UniversalDeserializer(), serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Namespace{})
	s.AddKnownTypes(authorizationv1.SchemeGroupVersion,
		&authorizationv1.SelfSubjectAccessReview{}, &authorizationv1.SelfSubjectRulesReview{}, &authorizationv1.SubjectAccessReview{})
	s.AddKnownTypes(rbacv1.SchemeGroupVersion, &rbacv1.Role{}, &rbacv1.ClusterRole{}, &rbacv1.RoleBinding{}, &rbacv1.ClusterRoleBinding{})
	// Clients state the options of a deletion as a kind of the object's group, or of metadata.
	s.AddKnownTypes(corev1.SchemeGroupVersion, &metav1.DeleteOptions{})
	s.AddKnownTypes(metav1.SchemeGroupVersion, &metav1.DeleteOptions{})
	return s
}

// errOtherKind is the error for a kind that is not decoded.
var errOtherKind = apierrors.NewBadRequest("the kind of the body must be that of the resource in the URL")

// prefix begins objects in protobuf.
var prefix = []byte("k8s\x00")

// Envelope returns the envelope of an object in protobuf.
func Envelope(body []byte) (*runtime.Unknown, error) {
	encoded, ok := bytes.CutPrefix(body, prefix)
	if !ok {
		return nil, errors.New("it has no prefix")
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(encoded); err != nil {
		return nil, err
	}
	return &envelope, nil
}

// Encode returns the JSON of a value. json.Marshal would make six bytes of each "<", ">" and "&", which no limit of what
// clients send counts.
func Encode(value any) ([]byte, error) {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(encoded.Bytes(), []byte("\n")), err
}

// Values returns how many values the body of a request may have at most that is decoded, in any form: a
// rule of two bytes in protobuf has three. The error, one of the API, is that JSON has too many levels: decoding them is recursive.
func Values(body []byte) (int, error) {
	if bytes.HasPrefix(body, prefix) {
		return min(3*(len(body)/2), yamlbody.MaxValues), nil
	}
	isJSON := json.Valid(body)
	if isJSON && yamlbody.Levels(body) > yamlbody.MaxLevels {
		return 0, yamlbody.ErrLevels
	}
	return yamlbody.Values(body, isJSON), nil
}

// Decode decodes an object that a client sends, in any form that kube-apiserver accepts: of the given kind, unless it
// states another one. If isStrict, it rejects unknown and repeated fields as kube-apiserver does. Errors are API errors.
func Decode(body []byte, kind schema.GroupVersionKind, isStrict bool) (runtime.Object, error) {
	// The decoder recognizes YAML under any content type.
	if bytes.HasPrefix(body, prefix) {
		if err := checkProtobuf(body); err != nil {
			return nil, err
		}
	} else if err := yamlbody.Check(body); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	decoder := lenient
	if isStrict {
		decoder = strict
	}
	object, _, err := decoder.Decode(body, &kind, nil)
	if runtime.IsNotRegisteredError(err) {
		return nil, errOtherKind
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return object, nil
}

// Protobuf decodes an object in protobuf, of the kind that it states. Errors are API errors.
func Protobuf(body []byte) (runtime.Object, error) {
	if !bytes.HasPrefix(body, prefix) {
		return nil, apierrors.NewBadRequest("the body is not an object in protobuf")
	}
	return Decode(body, schema.GroupVersionKind{}, false)
}

// checkProtobuf returns an error unless an object in protobuf is of a known kind and has few fields.
func checkProtobuf(body []byte) error {
	envelope, err := Envelope(body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	object, err := scheme.New(schema.FromAPIVersionAndKind(envelope.APIVersion, envelope.Kind))
	if err != nil {
		return errOtherKind
	}
	if err = CheckMessage(envelope.Raw, reflect.TypeOf(object).Elem()); err != nil && !apierrors.IsRequestEntityTooLargeError(err) {
		return apierrors.NewBadRequest(err.Error())
	}
	return err
}
