package cache

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

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
		{apierrors.NewMethodNotSupported(reviews, "watch"), "; propagation requires an API that lists and watches: if this persists, remove the entry"},
		{apierrors.NewGenericServerResponse(http.StatusNotFound, "get", reviews, "", "404 page not found", 0, true), "if this persists, remove the entry"},
		{apierrors.NewServiceUnavailable("away"), "away"},
	} {
		if c.recordRead(kind, k.Index, row.err); !strings.HasSuffix(k.ReadError, row.remedy) {
			t.Errorf("%v: got %q", row.err, k.ReadError)
		}
	}
}

// Each change would be a write of the status.
func TestErrorsOfKindsStayTheSameWhenTheyAreReadAgain(t *testing.T) {
	resource := schema.GroupResource{Resource: "widgets"}
	busy := apierrors.NewTooManyRequests("busy", 1)
	for name, row := range map[string]struct {
		list, watch error
		changes     int
	}{
		"lists only": {nil, apierrors.NewMethodNotSupported(resource, "watch"), 1},
		"neither":    {apierrors.NewMethodNotSupported(resource, "list"), apierrors.NewMethodNotSupported(resource, "watch"), 1},
		"readable":   {nil, nil, 0},
	} {
		c := New(Config{})
		kind := c.state.register(resource)
		k := c.state.Kind(kind)
		k.resolved = func() {}
		changes := 0
		c.state.AddEventHandlers(EventHandlers{KindStatusChanged: func(*State, int) { changes++ }})
		errWatch := row.watch
		requests := c.recordReads(kind, k.Index, source{
			list: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &corev1.SecretList{}, row.list
			},
			watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, errWatch },
		})
		first, next := metav1.ListOptions{SendInitialEvents: ptr.To(true)}, metav1.ListOptions{}
		for range 3 { // as reflectors do
			_, _ = requests.WatchWithContext(t.Context(), first)
			if _, err := requests.ListWithContext(t.Context(), next); err == nil {
				_, _ = requests.WatchWithContext(t.Context(), next)
			}
		}
		if changes != row.changes || (k.ReadError == "") != (row.changes == 0) {
			t.Errorf("%s: %d changes, to %q", name, changes, k.ReadError)
		}
		errWatch = busy
		if _, _ = requests.WatchWithContext(t.Context(), first); !strings.Contains(k.ReadError, "busy") {
			t.Errorf("%s: a busy server, of which reflectors ask nothing else: got %q", name, k.ReadError)
		}
		errWatch = nil
		if _, _ = requests.WatchWithContext(t.Context(), next); k.ReadError != "" {
			t.Errorf("%s: watched again, and got %q", name, k.ReadError)
		}
	}
}
