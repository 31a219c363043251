package cache

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree/treetest"
)

func TestInheritedKinds(t *testing.T) {
	s := &State{
		Tree:       treetest.New("ns root", "ns mid", "parent mid root", "ns leaf", "parent leaf mid"),
		byResource: map[schema.GroupResource]int{{Resource: "secrets"}: 0, {Resource: "configmaps"}: 1, {Resource: "services"}: 2},
	}
	policy := func(mode v1beta1.SynchronizationMode) copies.Policy { return copies.Policy{Mode: mode} }
	stop := func() {}
	s.kinds = []*Kind{
		{stop: stop, Policies: copies.Policies{Cluster: policy(v1beta1.AllowPropagate)}},
		{stop: stop, Policies: copies.Policies{Cluster: policy(v1beta1.Remove), Trees: map[string]copies.Policy{"mid": policy(v1beta1.Propagate)}}},
		{Policies: copies.Policies{Cluster: policy(v1beta1.Propagate)}},
	}
	for _, row := range []struct {
		namespace, resource string
		want                bool
	}{
		{"root", "secrets", false}, {"mid", "secrets", true}, {"leaf", "secrets", true},
		{"mid", "configmaps", false}, {"leaf", "configmaps", true},
		{"leaf", "services", false}, {"leaf", "pods", false},
	} {
		if got := s.Inherits(row.namespace, schema.GroupResource{Resource: row.resource}); got != row.want {
			t.Errorf("%s in %s: got %t", row.resource, row.namespace, got)
		}
	}
}
