package diagnosis

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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

// A namespace that is restored has another UID, so that its CustomResourceDefinitions are not those of its view.
func TestDefinitionsOfViewsThatDoNotExist(t *testing.T) {
	object := func(name, root, uid string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), Labels: map[string]string{hnc.LabelViewRoot: root}}}
	}
	crd := []metav1.PartialObjectMetadata{object("widgets.example.com.acme-12345.views.hnc.x-k8s.io", "acme", "")}
	if found := ViewDefinitions(nil, nil); found != nil {
		t.Errorf("no definitions: %v", found)
	}
	expect(t, "in use", ViewDefinitions(crd, []metav1.PartialObjectMetadata{object("acme", "", "12345-678")})[0], OK, "1, all of namespaces that exist")
	expect(t, "another UID", ViewDefinitions(crd, []metav1.PartialObjectMetadata{object("acme", "", "abcde-678")})[0], Warning, `of an earlier namespace "acme"`)
	expect(t, "no namespace", ViewDefinitions(crd, nil)[0], Warning, `of an earlier namespace "acme"`)
}
