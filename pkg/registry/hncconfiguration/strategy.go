// Package hncconfiguration is the registry of the cluster's only HNCConfiguration.
package hncconfiguration

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// strategy prepares and validates a configuration.
type strategy struct {
	base.Base
	resources  resourcespec.Validator
	overwrites *treerules.Overwrites
}

// validateOverwrites rejects a configuration with which objects would be overwritten. It skips invalid configurations,
// which the store rejects after the hooks, because objects of kinds that cannot be configured need not be listed.
func (s strategy) validateOverwrites(ctx context.Context, c, oldC *hnc.HNCConfiguration) error {
	if slices.Equal(c.Spec.Resources, oldC.Spec.Resources) || len(s.ValidateUpdate(ctx, c, oldC)) > 0 {
		return nil
	}
	return s.overwrites.ValidateConfiguration(ctx, oldC.Spec, c.Spec)
}

// resourcesPath is the field that names kinds.
var resourcesPath = field.NewPath("spec", "resources")

func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	c := obj.(*hnc.HNCConfiguration)
	c.Status = hnc.HNCConfigurationStatus{ObservedGeneration: hnc.NotObserved}
	c.Generation = 1
}

func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	c, oldC := obj.(*hnc.HNCConfiguration), old.(*hnc.HNCConfiguration)
	c.Status = oldC.Status
	base.SetGeneration(c, oldC, c.Spec, oldC.Spec)
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	c := obj.(*hnc.HNCConfiguration)
	return slices.Concat(validate(c), s.resources.Validate(ctx, resourcesPath, c.Spec.Resources, nil))
}

// ValidateUpdate accepts an unchanged spec, and kinds that were removed from the cluster if the old configuration names
// them as well.
func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	c, oldC := obj.(*hnc.HNCConfiguration), old.(*hnc.HNCConfiguration)
	if apiequality.Semantic.DeepEqual(c.Spec, oldC.Spec) {
		return nil
	}
	return slices.Concat(validate(c),
		s.resources.Validate(ctx, resourcesPath, c.Spec.Resources, oldC.Spec.Resources))
}
