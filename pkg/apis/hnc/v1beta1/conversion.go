package v1beta1

import (
	"math"

	"k8s.io/apimachinery/pkg/conversion"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Convert_v1beta1_HierarchyStatus_To_hnc_HierarchyStatus drops the number of children, which follows from their names.
func Convert_v1beta1_HierarchyStatus_To_hnc_HierarchyStatus(in *HierarchyStatus, out *hnc.HierarchyStatus, scope conversion.Scope) error {
	return autoConvert_v1beta1_HierarchyStatus_To_hnc_HierarchyStatus(in, out, scope)
}

// Convert_hnc_HierarchyStatus_To_v1beta1_HierarchyStatus counts the children.
func Convert_hnc_HierarchyStatus_To_v1beta1_HierarchyStatus(in *hnc.HierarchyStatus, out *HierarchyStatus, scope conversion.Scope) error {
	out.ChildCount = int32(min(len(in.Children), math.MaxInt32))
	return autoConvert_hnc_HierarchyStatus_To_v1beta1_HierarchyStatus(in, out, scope)
}
