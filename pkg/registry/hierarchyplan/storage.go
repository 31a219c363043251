package hierarchyplan

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

const kind = "HierarchyPlan"

// REST serves the subresource, which supports create only.
type REST struct{ *Planner }

var (
	_ rest.NamedCreater             = &REST{}
	_ rest.GroupVersionKindProvider = &REST{}
	_ rest.SingularNameProvider     = &REST{}
)

// New returns an empty plan.
func (*REST) New() runtime.Object { return &hnc.HierarchyPlan{} }

// Destroy does nothing.
func (*REST) Destroy() {}

// GetSingularName returns the singular name.
func (*REST) GetSingularName() string { return "hierarchyplan" }

// GroupVersionKind returns the kind of a plan, which has its own version in every version of hierarchies.
func (*REST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return v1alpha3.SchemeGroupVersion.WithKind(kind)
}

// Create returns a plan. It stores nothing.
func (r *REST) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	asked := obj.(*hnc.HierarchyPlan)
	if errs := validatePlan(name, asked); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: kind}, name, errs)
	}
	at, err := parsePosition(asked.Spec.Continue)
	if err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: kind}, name,
			field.ErrorList{field.Invalid(field.NewPath("spec", "continue"), asked.Spec.Continue, err.Error())})
	}
	if validate != nil {
		if err := validate(ctx, obj); err != nil {
			return nil, err
		}
	}
	namespace, err := r.Tree.Index.Namespace(ctx, genericapirequest.NamespaceValue(ctx))
	if err != nil {
		return nil, err
	}
	answer := asked.DeepCopy()
	answer.Name, answer.Namespace = name, namespace.Name
	answer.Status, err = r.plan(ctx, namespace, &asked.Spec, at)
	return answer, err
}
