package fake

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgotesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// Plan records the action.
func (c *fakeHierarchies) Plan(_ context.Context, name string, plan *v1alpha3.HierarchyPlan, options metav1.CreateOptions) (*v1alpha3.HierarchyPlan, error) {
	result := &v1alpha3.HierarchyPlan{}
	object, err := c.Fake.Invokes(clientgotesting.NewCreateSubresourceActionWithOptions(c.Resource(), name, "plan", c.Namespace(), plan, options), result)
	if object == nil {
		return result, err
	}
	return object.(*v1alpha3.HierarchyPlan), err
}
