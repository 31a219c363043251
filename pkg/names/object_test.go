package names

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestObject(t *testing.T) {
	for want, kind := range map[string]schema.GroupKind{
		"configmap/a": {Kind: "ConfigMap"},
		"rolebinding.rbac.authorization.k8s.io/a": {Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"},
	} {
		if got := Object(kind, "a"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
