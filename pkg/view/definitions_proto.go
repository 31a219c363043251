package view

import (
	"encoding/json"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
)

// definitionJSON returns a CustomResourceDefinition in protobuf as JSON. It counts as a document: decoded, a hundred
// kilobytes have many megabytes.
func (c *call) definitionJSON(body []byte) ([]byte, error) {
	_, release, err := c.budget.Document(c.r.Context())
	if err != nil {
		return nil, err
	}
	defer release()
	return definitionJSON(body)
}

// definitionJSON returns a CustomResourceDefinition in protobuf as JSON, without its status.
func definitionJSON(body []byte) ([]byte, error) {
	malformed := func(err error) error {
		return apierrors.NewBadRequest("malformed CustomResourceDefinition in protobuf: " + err.Error())
	}
	envelope, err := typed.Envelope(body)
	if err != nil {
		return nil, malformed(err)
	}
	if err := typed.CheckMessage(envelope.Raw, reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()); apierrors.IsRequestEntityTooLargeError(err) {
		return nil, err
	} else if err != nil {
		return nil, malformed(err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := definition.Unmarshal(envelope.Raw); err != nil {
		return nil, malformed(err)
	}
	converted, err := json.Marshal(struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              apiextensionsv1.CustomResourceDefinitionSpec `json:"spec"`
	}{metav1.TypeMeta{APIVersion: envelope.APIVersion, Kind: envelope.Kind}, definition.ObjectMeta, definition.Spec})
	if err != nil {
		return nil, malformed(err)
	}
	return converted, nil
}
