package configuration

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Reconcile writes the status of the configuration, and creates the configuration if there is none.
func (c *Controller) Reconcile(ctx context.Context, _ queue.Key) error {
	c.mu.Lock()
	c.due = time.Time{}
	c.mu.Unlock()
	var (
		config *v1beta1.HNCConfiguration
		status *v1beta1.HNCConfigurationStatus
	)
	c.Cache.Update(func(s *cache.State) {
		c.updateTreeConditions(s)
		config = s.Configuration
		c.mu.Lock()
		resolved := c.resolved
		c.mu.Unlock()
		if config == nil || resolved == nil {
			return
		}
		state := func(resource schema.GroupResource) kindState { return c.state(s, resource) }
		wanted := Status(config, *resolved, state, c.summary, metav1.Now())
		status = &wanted
	})
	switch {
	case config == nil:
		return c.create(ctx)
	case status == nil:
		return nil
	case sameStatus(*status, config.Status):
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": config.UID},
		"status": map[string]any{
			"observedGeneration": status.ObservedGeneration, "resources": status.Resources, "conditions": status.Conditions, "problems": status.Problems,
		},
	})
	if err != nil {
		return err
	}
	patched, err := c.Hierarchy.HncV1beta1().HNCConfigurations().Patch(ctx, config.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return outcome.Record(c.Metrics, "HNCConfiguration", "patch", config.Name, err, func() { c.Cache.ObserveConfiguration(patched) })
}

func (c *Controller) create(ctx context.Context) error {
	created, err := c.Hierarchy.HncV1beta1().HNCConfigurations().Create(ctx,
		&v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: c.Initial}, metav1.CreateOptions{})
	return outcome.Record(c.Metrics, "HNCConfiguration", "create", hnc.ConfigurationName, err, func() { c.Cache.ObserveConfiguration(created) })
}

// state describes a kind for the status.
func (c *Controller) state(s *cache.State, resource schema.GroupResource) kindState {
	kind, known := s.KindOf(resource)
	if !known {
		return kindState{}
	}
	k := s.Kind(kind)
	state := kindState{Synced: k.Synced, Error: c.failure(s, kind)}
	state.Sources, state.Copies = k.Index.Count(func(namespace string) bool { return !s.Tree.Excluded(namespace) })
	return state
}
