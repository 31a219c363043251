package validation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestProjectedKinds(t *testing.T) {
	issuers := hnc.ProjectedResource{Group: "cert-manager.io", Resource: "clusterissuers"}
	many := func(n int) (resources []hnc.ProjectedResource) {
		for i := range n {
			resources = append(resources, hnc.ProjectedResource{Group: "example.com", Resource: fmt.Sprintf("widgets%d", i)})
		}
		return resources
	}
	for _, test := range []struct {
		projected []hnc.ProjectedResource
		want      string
	}{
		{nil, ""},
		{[]hnc.ProjectedResource{issuers, {Resource: "persistentvolumes"}, {Resource: "nodes"}, {Group: "apps", Resource: "deployments"}}, ""},
		{many(32), ""},
		{many(33), "spec.projected: Too many: 33: must have at most 32 items"},
		{[]hnc.ProjectedResource{issuers, {Group: "cert-manager.io"}}, "spec.projected[1].resource: Required value: set the plural name of the resource"},
		{[]hnc.ProjectedResource{{Group: "cert-manager.io", Resource: "*"}}, `spec.projected[0].resource: Invalid value: "*": must be the plural name of a resource`},
		{[]hnc.ProjectedResource{{Resource: "nodes/proxy"}}, `spec.projected[0].resource: Invalid value: "nodes/proxy"`},
		{[]hnc.ProjectedResource{{Group: "cert-manager.io", Resource: "ClusterIssuer"}}, `spec.projected[0].resource: Invalid value: "ClusterIssuer"`},
		{[]hnc.ProjectedResource{{Group: "*", Resource: "widgets"}}, `spec.projected[0].group: Invalid value: "*"`},
		{[]hnc.ProjectedResource{{Group: "cert-manager.io/v1", Resource: "clusterissuers"}}, `spec.projected[0].group: Invalid value: "cert-manager.io/v1"`},
		{[]hnc.ProjectedResource{issuers, issuers}, `spec.projected[1]: Duplicate value: "clusterissuers.cert-manager.io"`},
		{[]hnc.ProjectedResource{{Resource: "namespaces"}}, `spec.projected[0]: Invalid value: "namespaces": cannot be projected: each view has its own`},
		{[]hnc.ProjectedResource{{Group: "apiregistration.k8s.io", Resource: "apiservices"}}, `spec.projected[0]: Invalid value: "apiservices.apiregistration.k8s.io": cannot be projected: it determines`},
	} {
		v := &hnc.TenantView{Spec: hnc.TenantViewSpec{Names: hnc.NamesRelative, Projected: test.projected}}
		v.Name = hnc.TenantViewSingleton
		errs := ValidateTenantView(v)
		if test.want == "" && len(errs) > 0 || test.want != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), test.want)) {
			t.Errorf("%v: got %v, want %q", test.projected, errs, test.want)
		}
	}
}

func TestTheRootOfAViewIsNotExternal(t *testing.T) {
	v := &hnc.TenantView{Spec: hnc.TenantViewSpec{Names: hnc.NamesRelative, External: []string{"kube-system", "default"}}}
	v.Name = hnc.TenantViewSingleton
	const want = `spec.external[1]: Invalid value: "default": is the name of the view's own namespace`
	if errs := ValidateTenantView(v); len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), want) {
		t.Errorf("got %v, want %q", errs, want)
	}
	v.Spec.Names = hnc.NamesReal
	if errs := ValidateTenantView(v); len(errs) > 0 {
		t.Errorf("got %v with real names", errs)
	}
}
