// Package fuzzer fills hierarchy objects with random content, for round-trip tests.
package fuzzer

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Funcs returns the functions that fill what can't be just anything: v1alpha2 shows one condition of each type. Any
// value of any other field survives a round trip.
var Funcs = func(serializer.CodecFactory) []any {
	return []any{
		func(status *hnc.HierarchyStatus, c randfill.Continue) {
			c.FillNoCustom(status)
			for i := range status.Conditions {
				status.Conditions[i].Type += strconv.Itoa(i)
			}
		},
		func(status *hnc.HNCConfigurationStatus, c randfill.Continue) {
			c.FillNoCustom(status)
			for i := range status.Conditions {
				status.Conditions[i].Type += strconv.Itoa(i)
			}
		},
	}
}
