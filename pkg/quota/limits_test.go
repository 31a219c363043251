package quota

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestLimitsOfPropagatedKinds(t *testing.T) {
	modes := map[string]map[string]v1beta1.SynchronizationMode{
		"secrets":          {"root": v1beta1.AllowPropagate, "mid": v1beta1.Ignore},
		"deployments.apps": {"root": v1beta1.Remove, "mid": v1beta1.Propagate},
	}
	mode := Mode(func(resource schema.GroupResource, chain []string) v1beta1.SynchronizationMode {
		return modes[resource.String()][chain[0]]
	})
	root, mid := []string{"root"}, []string{"mid", "root"}
	for _, row := range []struct {
		name  corev1.ResourceName
		chain []string
		want  bool
	}{
		{"secrets", root, true}, {"count/secrets", mid, true},
		{"count/deployments.apps", root, false}, {"count/deployments.apps", mid, true}, {"count/deployments.apps", []string{"leaf", "mid", "root"}, true},
		{"pods", mid, false}, {"limits.cpu", mid, false},
	} {
		if got := mode.Propagates(row.name, row.chain); got != row.want {
			t.Errorf("%s in %s: got %t", row.name, row.chain[0], got)
		}
	}
	if Mode(nil).Propagates("secrets", root) {
		t.Error("nothing is propagated without modes")
	}
}
