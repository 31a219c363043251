package hnc

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// noDuration stands for what is not a duration.
const noDuration = time.Duration(-1)

// Duration is a metav1.Duration whose decoding does not fail: what is not a duration is negative, which validation
// rejects with the name of the field. Decoders do not name the field of an error that a type returns.
//
// +k8s:openapi-gen=true
type Duration metav1.Duration

// UnmarshalJSON decodes a string such as "15s".
func (d *Duration) UnmarshalJSON(data []byte) error {
	var duration metav1.Duration
	if duration.UnmarshalJSON(data) != nil {
		duration.Duration = noDuration
	}
	*d = Duration(duration)
	return nil
}

// MarshalJSON encodes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// ToUnstructured implements value.UnstructuredConverter, which server-side apply uses.
func (d Duration) ToUnstructured() any { return d.String() }

// OpenAPISchemaType is the type in the OpenAPI specification.
func (Duration) OpenAPISchemaType() []string { return metav1.Duration{}.OpenAPISchemaType() }

// OpenAPISchemaFormat is the format in the OpenAPI specification.
func (Duration) OpenAPISchemaFormat() string { return metav1.Duration{}.OpenAPISchemaFormat() }
