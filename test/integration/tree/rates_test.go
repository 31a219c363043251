package tree

import (
	"context"
	"fmt"
	"testing"
	"time"

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
		return update(t.Context(), replicas[0], who, namespace, func(h *hnc.Hierarchy) { h.Spec.AllowCascadingDeletion = ptr.To(i%2 == 0) })
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

// A finalizer keeps a Subnamespace that is being deleted, and what it sets is inherited until then.
func TestWhatADeletedSubnamespaceSetsIsNotChangedOften(t *testing.T) {
	names := []string{"root"}
	for i := range 500 {
		names = append(names, fmt.Sprint("child-", i))
	}
	replicas, _ := registries(t, 1, 0, names)
	ctx := genericapirequest.WithUser(requestContext(t.Context(), "root"), &user.DefaultInfo{Name: tenant})
	store := replicas[0].subnamespaces.Subnamespace
	if _, err := store.Create(ctx, &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: "root", Name: "sub"}}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range names[1:] {
		if err := move(t.Context(), replicas[0], name, "sub"); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := store.Delete(ctx, "sub", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	var err error
	made := 0
	for ; made < 200 && err == nil; made++ {
		_, _, err = store.Update(ctx, "sub", rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			s := old.DeepCopyObject().(*hnc.Subnamespace)
			s.Spec.Labels = []hnc.MetaKVP{{Key: "team", Value: fmt.Sprint(made)}}
			return s, nil
		}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	}
	if made < 30 || !apierrors.IsTooManyRequests(err) {
		t.Errorf("change %d: %v", made, err)
	}
}

// Namespaces that move have no rates of their own: a chain of them would multiply that of its tree.
func TestMovesInATreeHaveOneRate(t *testing.T) {
	const below = 500
	names := []string{"top", "left", "upper", "lower"}
	for i := range below {
		names = append(names, fmt.Sprint("child-", i))
	}
	replicas, _ := registries(t, 1, 0, names)
	for i, parents := 1, []string{"top", "top", "upper", "lower"}; i < len(names); i++ {
		if err := move(t.Context(), replicas[0], names[i], parents[min(i, len(parents))-1]); err != nil {
			t.Fatal(err)
		}
	}
	made, began := 0, time.Now()
	for ; made < 200; made++ {
		name, parents := "lower", []string{"top", "upper"}
		if made%2 == 1 {
			name, parents = "upper", []string{"left", "top"}
		}
		err := update(t.Context(), replicas[0], tenant, name, func(h *hnc.Hierarchy) { h.Spec.Parent = parents[made/2%2] })
		if apierrors.IsTooManyRequests(err) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// One more in each second, and those that the index has not followed yet cost nothing. Two rates would allow 60.
	if most := 55 + int(time.Since(began).Seconds()); made < 30 || made > most {
		t.Errorf("%d moves of %d namespaces", made, below)
	}
}

// update changes the hierarchy of a namespace as a user.
func update(ctx context.Context, storage replica, who, namespace string, change func(*hnc.Hierarchy)) error {
	ctx = genericapirequest.WithUser(requestContext(ctx, namespace), &user.DefaultInfo{Name: who})
	_, _, err := storage.Hierarchy.Update(ctx, hnc.Singleton, rest.DefaultUpdatedObjectInfo(nil,
		func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			h := old.DeepCopyObject().(*hnc.Hierarchy)
			h.Name, h.Namespace = hnc.Singleton, namespace
			change(h)
			return h, nil
		}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	return err
}

// tenant may do everything in namespaces, and nothing in the whole cluster.
const tenant = "tenant"

func inNamespaces(a authorizer.Attributes) authorizer.Decision {
	if a.GetUser().GetName() == tenant && a.GetNamespace() == "" {
		return authorizer.DecisionNoOpinion
	}
	return authorizer.DecisionAllow
}
