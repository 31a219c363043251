package diagnosis

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

func TestGateway(t *testing.T) {
	if found := NoGateway(0); found != nil {
		t.Errorf("neither a gateway nor a TenantView: %v", found)
	}
	expect(t, "TenantViews without a gateway", NoGateway(2)[0], Warning, "2 TenantViews cannot be used")
	expect(t, "complete", GatewayPermissions(nil, nil), OK, "complete")
	expect(t, "missing", GatewayPermissions([]string{"list namespaces"}, nil), Error, "missing: list namespaces")
	expect(t, "too many", GatewayPermissions(nil, []string{"impersonate users"}), Error, "could act as anybody")
}

func TestViews(t *testing.T) {
	view := func(status metav1.ConditionStatus) v1alpha3.TenantView {
		v := v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Namespace: "acme"}}
		if status != "" {
			v.Status.Conditions = []metav1.Condition{{Type: hnc.ConditionReady, Status: status, Message: "no grant"}}
		}
		return v
	}
	expect(t, "none", Views(nil), OK, "0, and all can be used")
	expect(t, "ready", Views([]v1alpha3.TenantView{view("True")}), OK, "1, and all can be used")
	expect(t, "not ready", Views([]v1alpha3.TenantView{view("True"), view("False")}), Warning, "1 of 2 cannot be used: acme: no grant")
	expect(t, "new", Views([]v1alpha3.TenantView{view("")}), Warning, "not known yet")
}
