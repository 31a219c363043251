package view

import (
	"encoding/json"
	"fmt"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
)

// maxDefinition is the size of a CustomResourceDefinition in protobuf, in bytes. Each level of its schema is encoded once
// more, in which a byte of text can become six.
const maxDefinition = 512 << 10

// definitionJSON returns a CustomResourceDefinition in protobuf as JSON. What this takes counts.
func (c *call) definitionJSON(body []byte) ([]byte, error) {
	if len(body) > maxDefinition {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("a CustomResourceDefinition in protobuf may have at most %d bytes; send JSON", maxDefinition))
	}
	release, err := c.budget.Response(c.r.Context(), MaxPart)
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
