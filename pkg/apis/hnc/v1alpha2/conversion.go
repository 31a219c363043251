package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// addConversionFuncs registers the conversions between this version and the hub. This version has HNC's fields only;
// the registry preserves all other fields when an object is updated in it. Objects share slices and maps, as in
// generated conversions. conversion-gen cannot generate these functions because kinds, fields and conditions have
// different names in HNC.
func addConversionFuncs(scheme *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{
		convertible(hierarchyToHub, hierarchyFromHub),
		convertible(listToHub(
			func(l *HierarchyConfigurationList) []HierarchyConfiguration { return l.Items }, hierarchyToHub,
			func(in *HierarchyConfigurationList, items []hnc.Hierarchy) hnc.HierarchyList {
				return hnc.HierarchyList{ListMeta: in.ListMeta, Items: items}
			}), listToHub(
			func(l *hnc.HierarchyList) []hnc.Hierarchy { return l.Items }, hierarchyFromHub,
			func(in *hnc.HierarchyList, items []HierarchyConfiguration) HierarchyConfigurationList {
				return HierarchyConfigurationList{ListMeta: in.ListMeta, Items: items}
			})),
		convertible(anchorToHub, anchorFromHub),
		convertible(listToHub(
			func(l *SubnamespaceAnchorList) []SubnamespaceAnchor { return l.Items }, anchorToHub,
			func(in *SubnamespaceAnchorList, items []hnc.Subnamespace) hnc.SubnamespaceList {
				return hnc.SubnamespaceList{ListMeta: in.ListMeta, Items: items}
			}), listToHub(
			func(l *hnc.SubnamespaceList) []hnc.Subnamespace { return l.Items }, anchorFromHub,
			func(in *hnc.SubnamespaceList, items []SubnamespaceAnchor) SubnamespaceAnchorList {
				return SubnamespaceAnchorList{ListMeta: in.ListMeta, Items: items}
			})),
		convertible(configurationToHub, configurationFromHub),
		convertible(listToHub(
			func(l *HNCConfigurationList) []HNCConfiguration { return l.Items }, configurationToHub,
			func(in *HNCConfigurationList, items []hnc.HNCConfiguration) hnc.HNCConfigurationList {
				return hnc.HNCConfigurationList{ListMeta: in.ListMeta, Items: items}
			}), listToHub(
			func(l *hnc.HNCConfigurationList) []hnc.HNCConfiguration { return l.Items }, configurationFromHub,
			func(in *hnc.HNCConfigurationList, items []HNCConfiguration) HNCConfigurationList {
				return HNCConfigurationList{ListMeta: in.ListMeta, Items: items}
			})),
		convertible(quotaToHub, quotaFromHub),
		convertible(listToHub(
			func(l *HierarchicalResourceQuotaList) []HierarchicalResourceQuota { return l.Items }, quotaToHub,
			func(in *HierarchicalResourceQuotaList, items []hnc.HierarchicalResourceQuota) hnc.HierarchicalResourceQuotaList {
				return hnc.HierarchicalResourceQuotaList{ListMeta: in.ListMeta, Items: items}
			}), listToHub(
			func(l *hnc.HierarchicalResourceQuotaList) []hnc.HierarchicalResourceQuota { return l.Items }, quotaFromHub,
			func(in *hnc.HierarchicalResourceQuotaList, items []HierarchicalResourceQuota) HierarchicalResourceQuotaList {
				return HierarchicalResourceQuotaList{ListMeta: in.ListMeta, Items: items}
			})),
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	return nil
}

// convertible returns a function that registers both directions of a conversion.
func convertible[V, H any](toHub func(*V) H, fromHub func(*H) V) func(*runtime.Scheme) error {
	return func(scheme *runtime.Scheme) error {
		if err := scheme.AddConversionFunc((*V)(nil), (*H)(nil), func(in, out any, _ conversion.Scope) error {
			*out.(*H) = toHub(in.(*V))
			return nil
		}); err != nil {
			return err
		}
		return scheme.AddConversionFunc((*H)(nil), (*V)(nil), func(in, out any, _ conversion.Scope) error {
			*out.(*V) = fromHub(in.(*H))
			return nil
		})
	}
}

// listToHub converts a list by converting its items. nil items stay nil.
func listToHub[L, I, HL, HI any](items func(*L) []I, item func(*I) HI, list func(*L, []HI) HL) func(*L) HL {
	return func(in *L) HL {
		var out []HI
		if from := items(in); from != nil {
			out = make([]HI, len(from))
			for i := range from {
				out[i] = item(&from[i])
			}
		}
		return list(in, out)
	}
}

func hierarchyToHub(in *HierarchyConfiguration) hnc.Hierarchy {
	return hnc.Hierarchy{
		ObjectMeta: in.ObjectMeta,
		Spec: hnc.HierarchySpec{
			Parent:                 in.Spec.Parent,
			AllowCascadingDeletion: in.Spec.AllowCascadingDeletion,
			Labels:                 each(in.Spec.Labels, pairToHub),
			Annotations:            each(in.Spec.Annotations, pairToHub),
		},
		Status: hnc.HierarchyStatus{Children: in.Status.Children, Conditions: in.Status.Conditions},
	}
}

func hierarchyFromHub(in *hnc.Hierarchy) HierarchyConfiguration {
	return HierarchyConfiguration{
		ObjectMeta: in.ObjectMeta,
		Spec: HierarchyConfigurationSpec{
			Parent:                 in.Spec.Parent,
			AllowCascadingDeletion: in.Spec.AllowCascadingDeletion,
			Labels:                 each(in.Spec.Labels, pairFromHub),
			Annotations:            each(in.Spec.Annotations, pairFromHub),
		},
		Status: HierarchyConfigurationStatus{Children: in.Status.Children, Conditions: onePerType(hnc.Details(in.Status.Conditions, in.Status.Problems), namespaceTypes)},
	}
}

func anchorToHub(in *SubnamespaceAnchor) hnc.Subnamespace {
	return hnc.Subnamespace{
		ObjectMeta: in.ObjectMeta,
		Spec: hnc.SubnamespaceSpec{
			Labels:      each(in.Spec.Labels, pairToHub),
			Annotations: each(in.Spec.Annotations, pairToHub),
		},
		Status: hnc.SubnamespaceStatus{State: hnc.SubnamespaceState(in.Status.Status)},
	}
}

func anchorFromHub(in *hnc.Subnamespace) SubnamespaceAnchor {
	return SubnamespaceAnchor{
		ObjectMeta: in.ObjectMeta,
		Spec: SubnamespaceAnchorSpec{
			Labels:      each(in.Spec.Labels, pairFromHub),
			Annotations: each(in.Spec.Annotations, pairFromHub),
		},
		Status: SubnamespaceAnchorStatus{Status: SubnamespaceState(in.Status.State)},
	}
}

func configurationToHub(in *HNCConfiguration) hnc.HNCConfiguration {
	return hnc.HNCConfiguration{
		ObjectMeta: in.ObjectMeta,
		Spec:       hnc.HNCConfigurationSpec{Resources: each(in.Spec.Resources, resourceToHub)},
		Status: hnc.HNCConfigurationStatus{
			Resources: each(in.Status.Resources, func(r ResourceStatus) hnc.ResourceStatus {
				return hnc.ResourceStatus{
					Group: r.Group, Version: r.Version, Resource: r.Resource, Mode: hnc.SynchronizationMode(r.Mode),
					NumPropagatedObjects: r.NumPropagatedObjects, NumSourceObjects: r.NumSourceObjects,
				}
			}),
			Conditions: in.Status.Conditions,
		},
	}
}

func configurationFromHub(in *hnc.HNCConfiguration) HNCConfiguration {
	return HNCConfiguration{
		ObjectMeta: in.ObjectMeta,
		Spec:       HNCConfigurationSpec{Resources: each(in.Spec.Resources, resourceFromHub)},
		Status: HNCConfigurationStatus{
			Resources: each(in.Status.Resources, func(r hnc.ResourceStatus) ResourceStatus {
				return ResourceStatus{
					Group: r.Group, Version: r.Version, Resource: r.Resource, Mode: SynchronizationMode(r.Mode),
					NumPropagatedObjects: r.NumPropagatedObjects, NumSourceObjects: r.NumSourceObjects,
				}
			}),
			Conditions: oneSummary(hnc.Details(in.Status.Conditions, in.Status.Problems)),
		},
	}
}

// quotaToHub drops the summaries, which are computed.
func quotaToHub(in *HierarchicalResourceQuota) hnc.HierarchicalResourceQuota {
	return hnc.HierarchicalResourceQuota{
		ObjectMeta: in.ObjectMeta,
		Spec:       hnc.HierarchicalResourceQuotaSpec{Hard: corev1.ResourceList(in.Spec.Hard)},
		Status: hnc.HierarchicalResourceQuotaStatus{
			Hard: corev1.ResourceList(in.Status.Hard), Used: corev1.ResourceList(in.Status.Used),
		},
	}
}

func quotaFromHub(in *hnc.HierarchicalResourceQuota) HierarchicalResourceQuota {
	requests, limits := hnc.QuotaSummaries(in.Status.Hard, in.Status.Used)
	return HierarchicalResourceQuota{
		ObjectMeta: in.ObjectMeta,
		Spec:       HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(in.Spec.Hard)},
		Status: HierarchicalResourceQuotaStatus{
			Hard: hnc.ResourceList(in.Status.Hard), Used: hnc.ResourceList(in.Status.Used), RequestsSummary: requests, LimitsSummary: limits,
		},
	}
}

func pairToHub(in MetaKVP) hnc.MetaKVP { return hnc.MetaKVP(in) }

func pairFromHub(in hnc.MetaKVP) MetaKVP { return MetaKVP(in) }

func resourceToHub(in ResourceSpec) hnc.ResourceSpec {
	return hnc.ResourceSpec{
		Group: in.Group, Resource: in.Resource, Mode: hnc.SynchronizationMode(in.Mode),
	}
}

func resourceFromHub(in hnc.ResourceSpec) ResourceSpec {
	return ResourceSpec{
		Group: in.Group, Resource: in.Resource, Mode: SynchronizationMode(in.Mode),
	}
}

// each converts the items of a slice. A nil slice stays nil.
func each[From, To any](in []From, item func(From) To) []To {
	if in == nil {
		return nil
	}
	out := make([]To, len(in))
	for i := range in {
		out[i] = item(in[i])
	}
	return out
}
