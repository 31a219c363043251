package plan

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const kind = "HierarchyPlan"

// REST serves the subresource, which can be created only.
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

// GroupVersionKind returns the kind of a plan.
func (*REST) GroupVersionKind(version schema.GroupVersion) schema.GroupVersionKind {
	return version.WithKind(kind)
}

// Create answers a plan. Nothing is stored.
func (r *REST) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	asked := obj.(*hnc.HierarchyPlan)
	if errs := invalid(name, asked); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: kind}, name, errs)
	}
	at, err := position(asked.Spec.Continue)
	if err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: kind}, name,
			field.ErrorList{field.Invalid(field.NewPath("spec", "continue"), asked.Spec.Continue, err.Error())})
	}
	if validate != nil {
		if err := validate(ctx, obj); err != nil {
			return nil, err
		}
	}
	namespace, err := r.Tree.Namespace(ctx, genericapirequest.NamespaceValue(ctx))
	if err != nil {
		return nil, err
	}
	m, err := r.prepare(ctx, namespace, &asked.Spec)
	if err != nil {
		return nil, err
	}
	answer := asked.DeepCopy()
	answer.Name, answer.Namespace = name, namespace.Name
	answer.Status = r.show(ctx, m, at, limit(asked.Spec.Limit))
	return answer, nil
}

// How many objects an answer tells.
const (
	defaultLimit = 500
	maxLimit     = 5000
)

func limit(asked int32) int {
	if asked == 0 {
		return defaultLimit
	}
	return int(asked)
}

// invalid returns what is wrong with a question.
func invalid(name string, p *hnc.HierarchyPlan) field.ErrorList {
	var errs field.ErrorList
	for _, n := range []string{name, p.Name} {
		if n != "" && n != hnc.Singleton {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), n, fmt.Sprintf("must be %q", hnc.Singleton)))
		}
	}
	path, spec := field.NewPath("spec"), p.Spec
	switch spec.Change {
	case hnc.ChangeParent, hnc.ChangeDelete, hnc.ChangePropagation, hnc.ChangeConfiguration:
	case "":
		errs = append(errs, field.Required(path.Child("change"), "say what is changed: Parent, Delete, Propagation or Configuration"))
	default:
		errs = append(errs, field.NotSupported(path.Child("change"), spec.Change, []hnc.PlannedChange{
			hnc.ChangeParent, hnc.ChangeDelete, hnc.ChangePropagation, hnc.ChangeConfiguration,
		}))
	}
	if spec.Parent != "" && spec.Change != hnc.ChangeParent {
		errs = append(errs, field.Forbidden(path.Child("parent"), "is for the change Parent only"))
	}
	if len(spec.Resources) > 0 && spec.Change != hnc.ChangeConfiguration && spec.Change != hnc.ChangePropagation {
		errs = append(errs, field.Forbidden(path.Child("resources"), "is for the changes Propagation and Configuration only"))
	}
	if spec.Limit < 0 || spec.Limit > maxLimit {
		errs = append(errs, field.Invalid(path.Child("limit"), spec.Limit, fmt.Sprintf("must be from 0, which means %d, to %d", defaultLimit, maxLimit)))
	}
	return errs
}
