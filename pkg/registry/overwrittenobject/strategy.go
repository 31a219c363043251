// Package overwrittenobject is the registry of overwritten objects: records of the objects that the propagator has
// replaced by copies.
package overwrittenobject

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

// strategy prepares and validates a record. Records are never updated.
type strategy struct {
	base.Base
	ttl time.Duration
}

func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	obj.(*hnc.OverwrittenObject).Spec.ExpirationTime = metav1.NewTime(time.Now().Add(s.ttl).Truncate(time.Second))
}

func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	o := obj.(*hnc.OverwrittenObject)
	var errs field.ErrorList
	spec := field.NewPath("spec")
	for name, value := range map[string]string{"resource": o.Spec.Resource, "name": o.Spec.Name, "source": o.Spec.Source, "manifest": o.Spec.Manifest} {
		if value == "" {
			errs = append(errs, field.Required(spec.Child(name), ""))
		}
	}
	if want := hnc.OverwrittenName(resourceOf(o), o.Spec.Name); o.Name != want {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), o.Name, fmt.Sprintf("must be %q", want)))
	}
	if len(o.Spec.Manifest) > maxManifest {
		errs = append(errs, field.TooLong(spec.Child("manifest"), "", maxManifest))
	}
	return errs
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (strategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

func resourceOf(o *hnc.OverwrittenObject) schema.GroupResource {
	return schema.GroupResource{Group: o.Spec.Group, Resource: o.Spec.Resource}
}
