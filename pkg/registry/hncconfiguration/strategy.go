// Package hncconfiguration is the registry of the cluster's one HNCConfiguration.
package hncconfiguration

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// strategy checks and prepares a configuration. What it names must exist in the cluster.
type strategy struct {
	base.Base
	kinds resourcespec.Validator
	tree  *tree.Tree
	// rules are what this server acts by.
	rules *hnc.Rules
}

// overwrites judges what the configuration would have overwritten. The store validates after this hook, but there is no sense in listing objects
// of kinds that can't be configured.
func (s strategy) overwrites(ctx context.Context, obj, old runtime.Object) error {
	c, was := obj.(*hnc.HNCConfiguration), old.(*hnc.HNCConfiguration)
	if slices.Equal(c.Spec.Resources, was.Spec.Resources) || len(s.ValidateUpdate(ctx, c, was)) > 0 {
		return nil
	}
	return s.tree.CheckConfiguration(ctx, was.Spec, c.Spec)
}

// resources is the field that names kinds.
var resources = field.NewPath("spec", "resources")

func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	c := obj.(*hnc.HNCConfiguration)
	c.Status = hnc.HNCConfigurationStatus{InForce: hnc.InForce{APIServer: s.rules}}
	c.Generation = 1
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	c, was := obj.(*hnc.HNCConfiguration), old.(*hnc.HNCConfiguration)
	c.Status = was.Status
	c.Generation = was.Generation
	if !apiequality.Semantic.DeepEqual(c.Spec, was.Spec) {
		c.Generation++
	}
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	c := obj.(*hnc.HNCConfiguration)
	return append(validation.ValidateConfiguration(c), s.kinds.Validate(ctx, resources, c.Spec.Resources, nil)...)
}

// ValidateUpdate looks for the entries that are new only: a kind that has gone must not stand in the way of a change.
func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	c, was := obj.(*hnc.HNCConfiguration), old.(*hnc.HNCConfiguration)
	return append(validation.ValidateConfiguration(c), s.kinds.Validate(ctx, resources, c.Spec.Resources, was.Spec.Resources)...)
}

// statusStrategy lets only the status change, in which the server itself reports its rules.
type statusStrategy struct {
	base.Status
	rules *hnc.Rules
}

func (s statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	c, was := obj.(*hnc.HNCConfiguration), old.(*hnc.HNCConfiguration)
	c.Spec = was.Spec
	c.Status.InForce.APIServer = s.rules
	metav1.ResetObjectMetaForStatus(&c.ObjectMeta, &was.ObjectMeta)
}
