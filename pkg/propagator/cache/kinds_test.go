package cache

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

func TestPropagatedKinds(t *testing.T) {
	s := &State{
		byResource: map[schema.GroupResource]int{{Resource: "secrets"}: 0, {Resource: "configmaps"}: 1, {Resource: "services"}: 2},
	}
	policy := func(mode v1beta1.SynchronizationMode) modes.Policy { return modes.Policy{Mode: mode} }
	stop := func() {}
	s.kinds = []*Kind{
		{stop: stop, Policies: modes.Policies{Cluster: policy(v1beta1.AllowPropagate)}},
		{stop: stop, Policies: modes.Policies{Cluster: policy(v1beta1.Remove), Trees: map[string]modes.Policy{"mid": policy(v1beta1.Propagate)}}},
		{Policies: modes.Policies{Cluster: policy(v1beta1.Propagate)}},
	}
	for _, row := range []struct {
		resource string
		chain    []string
		want     bool
	}{
		{"secrets", []string{"leaf", "mid", "root"}, true},
		{"configmaps", []string{"leaf", "mid", "root"}, true}, {"configmaps", []string{"root"}, false},
		{"services", []string{"root"}, false}, {"pods", []string{"root"}, false},
	} {
		if got := s.Propagated(schema.GroupResource{Resource: row.resource}, row.chain); got != row.want {
			t.Errorf("%s in %s: got %t", row.resource, row.chain, got)
		}
	}
}

// Otherwise the copies of RoleBindings that refer to Roles would be removed until the Roles are listed.
func TestRoleBindingsAreSkippedUntilRolesAreListed(t *testing.T) {
	s := &State{byResource: map[schema.GroupResource]int{copies.Roles.GroupResource(): 0, copies.RoleBindings.GroupResource(): 1}}
	roles, bindings := &Kind{Index: copies.NewIndex(copies.Roles), resolved: func() {}}, &Kind{Index: copies.NewIndex(copies.RoleBindings), resolved: func() {}}
	s.kinds = []*Kind{roles, bindings}
	s.linkRoles()
	if s.kindListed(1); bindings.Synced {
		t.Error("synced before the Roles are listed")
	}
	if s.kindListed(0); !roles.Synced || !bindings.Synced {
		t.Error("not synced although both are listed")
	}
	roles.Index, roles.listed, roles.Synced = copies.NewIndex(copies.Roles), false, false // it is watched anew
	if s.linkRoles(); bindings.Synced || bindings.Index.Roles != roles.Index {
		t.Error("synced while the Roles are listed again")
	}
	if s.kindListed(0); !bindings.Synced {
		t.Error("not synced although the Roles are listed again")
	}
}

func TestKindsThatCannotBeListedSayWhatToDo(t *testing.T) {
	c := New(Config{})
	reviews := schema.GroupResource{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}
	kind := c.state.register(reviews)
	k := c.state.Kind(kind)
	k.resolved = func() {}
	for _, row := range []struct {
		err    error
		remedy string
	}{
		{apierrors.NewMethodNotSupported(reviews, "watch"), "remove the entry"},
		{apierrors.NewGenericServerResponse(http.StatusNotFound, "get", reviews, "", "404 page not found", 0, true), "remove the entry"},
		{apierrors.NewServiceUnavailable("away"), "away"},
	} {
		if c.recordRead(kind, k.Index, row.err); !strings.HasSuffix(k.ReadError, row.remedy) {
			t.Errorf("%v: got %q", row.err, k.ReadError)
		}
	}
}
