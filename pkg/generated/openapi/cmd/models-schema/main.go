// Command models-schema prints the API's OpenAPI v2 definitions, which the generator of apply configurations reads.
package main

import (
	"encoding/json"
	"os"

	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/openapi"
)

func main() {
	definitions := make(map[string]spec.Schema)
	for name, definition := range openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + name)
	}) {
		definitions[name] = definition.Schema
		// A definition may carry a v2 form of its own.
		if v2, ok := definition.Schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
			definitions[name] = v2
		}
	}
	err := json.NewEncoder(os.Stdout).Encode(&spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "hierarchy-apiserver", Version: "unversioned"}},
		Definitions: definitions,
	}})
	if err != nil {
		klog.ErrorS(err, "cannot encode the definitions")
		os.Exit(1)
	}
}
