package cache

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

func TestModesOfKinds(t *testing.T) {
	s := &State{
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
		resource string
		chain    []string
		want     v1beta1.SynchronizationMode
	}{
		{"secrets", []string{"leaf", "mid", "root"}, v1beta1.AllowPropagate},
		{"configmaps", []string{"leaf", "mid", "root"}, v1beta1.Propagate}, {"configmaps", []string{"root"}, v1beta1.Remove},
		{"services", []string{"root"}, v1beta1.Ignore}, {"pods", []string{"root"}, v1beta1.Ignore},
	} {
		if got := s.Mode(schema.GroupResource{Resource: row.resource}, row.chain); got != row.want {
			t.Errorf("%s in %s: got %s", row.resource, row.chain, got)
		}
	}
}
