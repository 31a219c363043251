package v1beta1

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/scheme"
)

// HierarchyExpansion contains methods that client-gen cannot generate.
type HierarchyExpansion interface {
	// Plan returns what a change would do.
	Plan(ctx context.Context, name string, plan *v1alpha3.HierarchyPlan, options metav1.CreateOptions) (*v1alpha3.HierarchyPlan, error)
}

// Plan returns what a change would do. A generated method would encode the plan in the version of hierarchies.
func (c *hierarchies) Plan(ctx context.Context, name string, plan *v1alpha3.HierarchyPlan, options metav1.CreateOptions) (*v1alpha3.HierarchyPlan, error) {
	plan = plan.DeepCopy()
	plan.SetGroupVersionKind(v1alpha3.SchemeGroupVersion.WithKind("HierarchyPlan"))
	body, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	result := &v1alpha3.HierarchyPlan{}
	err = c.GetClient().Post().Namespace(c.GetNamespace()).Resource("hierarchies").Name(name).SubResource("plan").
		VersionedParams(&options, scheme.ParameterCodec).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Into(result)
	return result, err
}
