package quotas

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
)

// Key names a HierarchicalResourceQuota or a ResourceQuota.
type Key = types.NamespacedName

// Quota is the part of a HierarchicalResourceQuota that is kept.
type Quota struct {
	Key
	UID             types.UID
	ResourceVersion string
	Generation      int64
	// Scope identifies Scopes and Selector.
	Scope    quota.Scope
	Scopes   []corev1.ResourceQuotaScope
	Selector *corev1.ScopeSelector
	// Hard are the limits that can be in force; Counted are those that ResourceQuotas enforce. Ignored are the others.
	Hard, Counted corev1.ResourceList
	Ignored       []corev1.ResourceName
	// Size is its part of the space that the quotas of a namespace share.
	Size   int
	Status v1beta1.HierarchicalResourceQuotaStatus
}

// NewQuota returns the record of q.
func NewQuota(q *v1beta1.HierarchicalResourceQuota) (*Quota, error) {
	var spec hnc.HierarchicalResourceQuotaSpec
	if err := v1beta1.Convert_v1beta1_HierarchicalResourceQuotaSpec_To_hnc_HierarchicalResourceQuotaSpec(&q.Spec, &spec, nil); err != nil {
		return nil, err
	}
	hard, ignored := quota.InForce(spec.Hard)
	return &Quota{
		Key:             Key{Namespace: q.Namespace, Name: q.Name},
		UID:             q.UID,
		ResourceVersion: q.ResourceVersion,
		Generation:      q.Generation,
		Scope:           quota.ScopeOf(&spec),
		Scopes:          spec.Scopes,
		Selector:        coreSelector(spec.ScopeSelector),
		Hard:            hard,
		Counted:         quota.Counted(hard),
		Ignored:         ignored,
		Size:            quota.Size(&spec),
		Status:          q.Status,
	}, nil
}

// CountsSubnamespaces reports whether the quota limits the number of sub-namespaces.
func (q *Quota) CountsSubnamespaces() bool {
	_, ok := q.Hard[hnc.ResourceSubnamespaces]
	return ok
}

func coreSelector(s *hnc.QuotaScopeSelector) *corev1.ScopeSelector {
	if s == nil {
		return nil
	}
	selector := &corev1.ScopeSelector{}
	for _, r := range s.MatchExpressions {
		selector.MatchExpressions = append(selector.MatchExpressions, corev1.ScopedResourceSelectorRequirement(r))
	}
	return selector
}

// Object is the part of a ResourceQuota that is kept. Only those with the label hnc.LabelQuota are.
type Object struct {
	Key
	UID             types.UID
	ResourceVersion string
	// Scope is that of its scopes and scope selector, which can't be changed.
	Scope quota.Scope
	// Hard are the limits. Enforced and Used are those and the use that kube-controller-manager has computed.
	Hard, Enforced, Used corev1.ResourceList
	// NotPropagated reports that it is annotated not to be copied to descendants.
	NotPropagated bool
	// Unreadable reports that its managed fields cannot be decoded in the reviews that kube-apiserver sends to the webhook.
	Unreadable bool
}

// Counted reports whether kube-controller-manager has computed the use of the limits.
func (o *Object) Counted() bool { return quotav1.Equals(o.Hard, o.Enforced) }

// NewObject returns the record of o.
func NewObject(o *corev1.ResourceQuota) *Object {
	spec := hnc.HierarchicalResourceQuotaSpec{Scopes: o.Spec.Scopes}
	if s := o.Spec.ScopeSelector; s != nil {
		spec.ScopeSelector = &hnc.QuotaScopeSelector{}
		for _, r := range s.MatchExpressions {
			spec.ScopeSelector.MatchExpressions = append(spec.ScopeSelector.MatchExpressions, hnc.QuotaScopeRequirement(r))
		}
	}
	hard, enforced := hnc.BoundQuantities(o.Spec.Hard), hnc.BoundQuantities(o.Status.Hard)
	if quotav1.Equals(hard, enforced) {
		enforced = hard
	}
	return &Object{
		Key:             Key{Namespace: o.Namespace, Name: o.Name},
		UID:             o.UID,
		ResourceVersion: o.ResourceVersion,
		Scope:           quota.ScopeOf(&spec),
		Hard:            hard,
		Enforced:        enforced,
		Used:            quotav1.RemoveZeros(hnc.BoundQuantities(o.Status.Used)),
		NotPropagated:   o.Annotations[hnc.AnnotationNone] == "true",
		Unreadable:      !readable(o.ManagedFields),
	}
}

// readable reports whether managed fields can be decoded in a review. In protobuf, they may have as many levels as decoders
// accept, and times that are encoded but cannot be decoded.
func readable(fields []metav1.ManagedFieldsEntry) bool {
	raw, err := json.Marshal(fields)
	var review [][][][][]metav1.ManagedFieldsEntry // It has four levels around the list.
	return err == nil && json.Unmarshal(slices.Concat([]byte("[[[["), raw, []byte("]]]]")), &review) == nil
}
