package quota

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestLimitsOfPropagatedKinds(t *testing.T) {
	propagated := Propagated(func(resource schema.GroupResource, chain []string) bool {
		return resource.String() == map[string]string{"root": "secrets", "mid": "deployments.apps"}[chain[0]]
	})
	root, mid := []string{"root"}, []string{"mid", "root"}
	for _, row := range []struct {
		name  corev1.ResourceName
		chain []string
		want  bool
	}{
		{"secrets", root, true}, {"count/secrets", root, true}, {"count/secrets", mid, false},
		{"count/deployments.apps", root, false}, {"count/deployments.apps", mid, true},
		{"pods", root, false}, {"limits.cpu", root, false},
	} {
		if got := propagated.Lifts(row.name, row.chain); got != row.want {
			t.Errorf("%s in %s: got %t", row.name, row.chain[0], got)
		}
	}
	if Propagated(nil).Lifts("secrets", root) {
		t.Error("nothing is propagated without policies")
	}
}
