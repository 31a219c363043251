package inforce

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
)

func TestDifferences(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*managed.Options, *copies.Options)
		want   string
	}{
		"none":         {func(*managed.Options, *copies.Options) {}, ""},
		"order":        {func(m *managed.Options, _ *copies.Options) { m.Excluded = append(m.Excluded[1:], m.Excluded[0]) }, ""},
		"excluded":     {func(m *managed.Options, _ *copies.Options) { m.Excluded = []string{"a"} }, `excludedNamespaces is ["hnc-system","hns-system","kube-node-lease","kube-public","kube-system"] for hns-apiserver and ["a"] for hns-propagator`},
		"included":     {func(m *managed.Options, _ *copies.Options) { m.Included = "a.*" }, `includedNamespaceRegex is empty for hns-apiserver and "a.*" for hns-propagator`},
		"selector":     {func(m *managed.Options, _ *copies.Options) { m.Selector = "a=b" }, `excludedNamespaceSelector is empty for hns-apiserver and "a=b" for hns-propagator`},
		"labels":       {func(m *managed.Options, _ *copies.Options) { m.Labels = []string{"a"} }, `managedNamespaceLabels is empty`},
		"annotations":  {func(m *managed.Options, _ *copies.Options) { m.Annotations = []string{"a"} }, `managedNamespaceAnnotations is empty`},
		"not copied":   {func(_ *managed.Options, c *copies.Options) { c.NoPropagation = nil }, `noPropagationLabels is ["cattle.io/creator=norman"] for hns-apiserver and empty`},
		"left out":     {func(_ *managed.Options, c *copies.Options) { c.UnpropagatedLabels = []string{"a"} }, `unpropagatedLabels is empty`},
		"annotations'": {func(_ *managed.Options, c *copies.Options) { c.UnpropagatedAnnotations = []string{"a"} }, `unpropagatedAnnotations is empty`},
		"tracking":     {func(_ *managed.Options, c *copies.Options) { c.StripTracking = false }, `stripTrackingMetadata is true for hns-apiserver and false for hns-propagator`},
	} {
		t.Run(name, func(t *testing.T) {
			m, c := managed.NewOptions(), copies.NewOptions()
			test.change(m, c)
			got := strings.Join(Differences(v1beta1.InForce{APIServer: Of(managed.NewOptions(), copies.NewOptions()), Propagator: Of(m, c)}), "\n")
			if !strings.HasPrefix(got, test.want) || (test.want == "") != (got == "") || strings.Contains(got, "\n") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := Differences(v1beta1.InForce{APIServer: &v1beta1.Rules{IncludedNamespaceRegex: "a"}}); got != nil {
		t.Errorf("before the propagator has reported: %q", got)
	}
}
