package subnamespace

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// A void Subnamespace stays void, so that its namespace is not its sub-namespace is confirmed with a live read.
func TestVoidingIsConfirmedWithALiveRead(t *testing.T) {
	for name, test := range map[string]struct {
		change func(live *objects)
		void   bool
	}{
		"nothing has changed":      {func(*objects) {}, true},
		"it is a sub-namespace":    {func(live *objects) { live.c.Annotations = newObjects().c.Annotations }, false},
		"it is gone":               {func(live *objects) { live.c = nil }, false},
		"another one was created":  {func(live *objects) { live.c.UID = "other" }, true},
		"the same, for the parent": {func(live *objects) { live.c.UID, live.c.Annotations = "other", newObjects().c.Annotations }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cached, live := newObjects(), newObjects()
			for _, o := range []*objects{cached, live} {
				o.p.DeletionTimestamp, o.c.Annotations, o.c.Labels, o.hierarchyC = nil, nil, nil, nil
			}
			test.change(live)
			written, err := reconcile(t, cached, live)
			if test.void {
				if err != nil || strings.Join(written, ", ") != "patch subnamespaces c" {
					t.Errorf("wrote %q and returned %v", written, err)
				}
				return
			}
			if len(written) > 0 || !errors.Is(err, outcome.ErrStale) {
				t.Errorf("wrote %q and returned %v", written, err)
			}
		})
	}
}

// The namespace may be the one to be created: that none is there confirms nothing then.
func TestNothingBecomesVoidThatTheCacheKeepsByNow(t *testing.T) {
	c := &Controller{Dependencies: controller.Dependencies{Cache: cache.New(cache.Config{Managed: treetest.Rules()}), Kubernetes: fake.NewClientset()}}
	objects := newObjects()
	objects.p.DeletionTimestamp = nil
	c.Cache.ObserveNamespace(objects.p)
	c.Cache.ObserveSubnamespace(objects.subnamespace)
	if err := c.confirmVoid(t.Context(), tree.NewSubnamespace(objects.subnamespace)); !errors.Is(err, outcome.ErrStale) {
		t.Errorf("got %v", err)
	}
}
