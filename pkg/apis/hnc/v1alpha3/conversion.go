package v1alpha3

import (
	"fmt"

	"k8s.io/apimachinery/pkg/conversion"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// Convert_v1alpha3_ViewDefinition_To_hnc_ViewDefinition rejects specs with more values than may be decoded: managed
// fields, patches and the validation decode them, each after the conversion.
func Convert_v1alpha3_ViewDefinition_To_hnc_ViewDefinition(in *ViewDefinition, out *hnc.ViewDefinition, s conversion.Scope) error {
	if err := yamlbody.CheckValues(in.Spec.Raw); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	return autoConvert_v1alpha3_ViewDefinition_To_hnc_ViewDefinition(in, out, s)
}
