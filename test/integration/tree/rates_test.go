package tree

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// What many namespaces inherit is not changed often by one tenant. Changes of few namespaces are not counted.
func TestWhatManyNamespacesInheritIsNotChangedOften(t *testing.T) {
	const below = 500
	names := []string{"root", "team"}
	for i := range below {
		names = append(names, fmt.Sprint("child-", i))
	}
	replicas, _ := registries(t, 1, 0, names)
	for _, name := range names[1:] {
		if err := move(t.Context(), replicas[0], name, "root"); err != nil {
			t.Fatal(err)
		}
	}
	change := func(who, namespace string, i int) error {
		ctx := genericapirequest.WithUser(requestContext(t.Context(), namespace), &user.DefaultInfo{Name: who})
		_, _, err := replicas[0].Hierarchy.Update(ctx, hnc.Singleton, rest.DefaultUpdatedObjectInfo(nil,
			func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
				h := old.DeepCopyObject().(*hnc.Hierarchy)
				h.Name, h.Namespace, h.Spec.AllowCascadingDeletion = hnc.Singleton, namespace, ptr.To(i%2 == 0)
				return h, nil
			}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
		return err
	}
	made := 0
	for ; made < 200; made++ {
		if err := change(tenant, "root", made); apierrors.IsTooManyRequests(err) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if made < 30 || made == 200 {
		t.Errorf("%d changes of what %d namespaces inherit", made, below)
	}
	if err := change("tester", "root", made); err != nil {
		t.Errorf("a change by who may change all hierarchies: %v", err)
	}
	for i := range 100 {
		if err := change(tenant, "team", i); err != nil {
			t.Fatalf("change %d of a leaf: %v", i, err)
		}
	}
}

// tenant may do everything in namespaces, and nothing in the whole cluster.
const tenant = "tenant"

func inNamespaces(a authorizer.Attributes) authorizer.Decision {
	if a.GetUser().GetName() == tenant && a.GetNamespace() == "" {
		return authorizer.DecisionNoOpinion
	}
	return authorizer.DecisionAllow
}
