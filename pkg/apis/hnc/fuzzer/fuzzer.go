// Package fuzzer fills hierarchy objects with random content, for round-trip tests.
package fuzzer

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/randfill"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Funcs returns the functions for fields that random values would make invalid: conditions have keys, and types that
// versions convert differently; and fields that have a default.
var Funcs = func(serializer.CodecFactory) []any {
	return []any{
		func(status *hnc.HierarchyStatus, c randfill.Continue) {
			c.FillNoCustom(status)
			fillTypes(status.Conditions, c)
		},
		func(status *hnc.SubnamespaceStatus, c randfill.Continue) {
			c.FillNoCustom(status)
			fillTypes(status.Conditions, c)
		},
		func(status *hnc.HierarchicalResourceQuotaStatus, c randfill.Continue) {
			c.FillNoCustom(status)
			fillTypes(status.Conditions, c)
		},
		func(status *hnc.HNCConfigurationStatus, c randfill.Continue) {
			c.FillNoCustom(status)
			fillTypes(status.Conditions, c)
		},
		func(spec *hnc.HNCConfigurationSpec, c randfill.Continue) {
			c.FillNoCustom(spec)
			if spec.OnConflict == "" {
				spec.OnConflict = hnc.Overwrite
			}
			if spec.SubnamespaceNames != nil && spec.SubnamespaceNames.Prefix == "" {
				spec.SubnamespaceNames.Prefix = hnc.NoPrefix
			}
			if spec.Rules == nil {
				spec.Rules = &hnc.Rules{}
			}
		},
		func(rules *hnc.Rules, c randfill.Continue) {
			c.FillNoCustom(rules)
			rules.ExcludedNamespaces = append(rules.ExcludedNamespaces, "a")
			rules.SkippedObjects = append(rules.SkippedObjects, metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}})
			rules.StripTrackingMetadata = ptr.To(c.Bool())
		},
		func(definition *hnc.ViewDefinition, c randfill.Continue) {
			c.FillNoCustom(definition)
			definition.Spec = runtime.RawExtension{Raw: []byte(`{"group":"example.com"}`)}
		},
		func(spec *hnc.TenantViewSpec, c randfill.Continue) {
			c.FillNoCustom(spec)
			if spec.Names == "" {
				spec.Names = hnc.NamesReal
			}
		},
	}
}

var types = []string{
	hnc.ConditionReady, hnc.ConditionActivitiesHalted, hnc.ConditionBadConfiguration, hnc.ConditionOutOfSync, hnc.ConditionNamespace, "Other",
}

func fillTypes(conditions []metav1.Condition, c randfill.Continue) {
	for i := range conditions {
		conditions[i].Type = types[c.Intn(len(types))]
		conditions[i].Reason += strconv.Itoa(i)
		conditions[i].Message += hnc.NamespaceConditionSeparator + conditions[i].Reason
	}
}
