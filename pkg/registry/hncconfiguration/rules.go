package hncconfiguration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/storewatch"
)

// Versioned returns rules as v1beta1.
func Versioned(rules *hnc.Rules) *v1beta1.Rules {
	if rules == nil {
		return nil
	}
	versioned := &v1beta1.Rules{}
	_ = v1beta1.Convert_hnc_Rules_To_v1beta1_Rules(rules.DeepCopy(), versioned, nil) // all fields are equal
	return versioned
}

// validate validates what does not depend on the cluster.
func validate(c *hnc.HNCConfiguration) field.ErrorList {
	errs := validation.ValidateConfiguration(c)
	if c.Spec.Rules != nil && len(errs) == 0 {
		errs = configrules.Validate(Versioned(c.Spec.Rules), configrules.Path)
	}
	return errs
}

// WarningsOnCreate returns those of an update.
func (s strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return s.WarningsOnUpdate(ctx, obj, &hnc.HNCConfiguration{})
}

// WarningsOnUpdate warns about excluded namespaces that the admission policies do not know.
func (strategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	excluded := func(obj runtime.Object) []string {
		return slices.Sorted(slices.Values(configrules.Defaulted(Versioned(obj.(*hnc.HNCConfiguration).Spec.Rules)).ExcludedNamespaces))
	}
	now := excluded(obj)
	if slices.Equal(now, excluded(old)) || slices.Equal(now, slices.Sorted(slices.Values(hnc.ExcludedNamespaces))) {
		return nil
	}
	return []string{"spec.rules.excludedNamespaces: the admission policies name excluded namespaces too; change their list as well"}
}

// authorize authorizes what a configuration has the propagator do with its own permissions.
func authorize(ctx context.Context, reviews authorizer.Authorizer, c, old *hnc.HNCConfiguration) error {
	if err := authorizeCreatorRole(ctx, reviews, c, old.Spec.CreatorRole); err != nil {
		return err
	}
	if configrules.Same(Versioned(c.Spec.Rules), Versioned(old.Spec.Rules)) {
		return nil
	}
	return AuthorizeRules(ctx, reviews, c.Name)
}

// AuthorizeRules authorizes other rules: the propagator sets and removes labels and annotations of any namespace by
// them.
func AuthorizeRules(ctx context.Context, reviews authorizer.Authorizer, name string) error {
	user, allowed, err := accessreview.Requester(ctx, reviews, authorizer.AttributesRecord{Verb: "update", APIVersion: "*", Resource: "namespaces"})
	if err != nil || allowed {
		return err
	}
	return apierrors.NewForbidden(hnc.Resource("hncconfigurations"), name, fmt.Errorf("%s: user %q may not change labels and annotations of all namespaces; "+
		"this needs the verb update on namespaces in the whole cluster", configrules.Path, user))
}

var errRulesUnknown = errors.New("the configuration has not been read yet")

// FollowRules applies the rules of the stored configuration until the context ends, and calls changed when they are
// others. It returns at once; Ready returns nil when the configuration has been read.
func (s *Storage) FollowRules(ctx context.Context, changed func()) {
	s.changed.Store(&changed)
	storewatch.Run(ctx, "rules", s.Configuration, func(objects []any) {
		c := &hnc.HNCConfiguration{}
		for _, object := range objects {
			if found, ok := object.(*hnc.HNCConfiguration); ok && found.Name == hnc.ConfigurationName {
				c = found
			}
		}
		s.apply(ctx, c)
		s.read.Store(true)
	}, func(object any, gone bool) {
		if c, ok := object.(*hnc.HNCConfiguration); ok && c.Name == hnc.ConfigurationName && !gone {
			s.apply(ctx, c)
		}
	})
}

// Ready returns an error until FollowRules has read the configuration.
func (s *Storage) Ready(*http.Request) error {
	if s.read.Load() {
		return nil
	}
	return errRulesUnknown
}

// apply makes the rules of a stored configuration apply, unless those of a later one do.
func (s *Storage) apply(ctx context.Context, c *hnc.HNCConfiguration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, _ := strconv.ParseUint(c.ResourceVersion, 10, 64) // 0 if none is stored
	if version < s.version {
		return
	}
	s.version = version
	other, err := s.rules.Set(Versioned(c.Spec.Rules))
	if err != nil {
		klog.FromContext(ctx).Error(err, "Cannot apply spec.rules of the configuration; keeping the rules")
	}
	if changed := s.changed.Load(); other && changed != nil {
		(*changed)()
	}
}
