package v1beta1

import (
	"k8s.io/apimachinery/pkg/conversion"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Convert_v1beta1_HierarchicalResourceQuotaSpec_To_hnc_HierarchicalResourceQuotaSpec bounds quantities, because the server computes with requested and with
// stored ones before it validates them.
func Convert_v1beta1_HierarchicalResourceQuotaSpec_To_hnc_HierarchicalResourceQuotaSpec(
	in *HierarchicalResourceQuotaSpec, out *hnc.HierarchicalResourceQuotaSpec, s conversion.Scope) error {
	if err := autoConvert_v1beta1_HierarchicalResourceQuotaSpec_To_hnc_HierarchicalResourceQuotaSpec(in, out, s); err != nil {
		return err
	}
	out.Hard = hnc.BoundQuantities(out.Hard)
	return nil
}

// Convert_v1beta1_HierarchicalResourceQuotaStatus_To_hnc_HierarchicalResourceQuotaStatus does the same.
func Convert_v1beta1_HierarchicalResourceQuotaStatus_To_hnc_HierarchicalResourceQuotaStatus(
	in *HierarchicalResourceQuotaStatus, out *hnc.HierarchicalResourceQuotaStatus, s conversion.Scope) error {
	if err := autoConvert_v1beta1_HierarchicalResourceQuotaStatus_To_hnc_HierarchicalResourceQuotaStatus(in, out, s); err != nil {
		return err
	}
	out.Hard, out.Used = hnc.BoundQuantities(out.Hard), hnc.BoundQuantities(out.Used)
	return nil
}

// Convert_v1beta1_NamespaceUse_To_hnc_NamespaceUse does the same.
func Convert_v1beta1_NamespaceUse_To_hnc_NamespaceUse(in *NamespaceUse, out *hnc.NamespaceUse, s conversion.Scope) error {
	if err := autoConvert_v1beta1_NamespaceUse_To_hnc_NamespaceUse(in, out, s); err != nil {
		return err
	}
	out.Used = hnc.BoundQuantities(out.Used)
	return nil
}
