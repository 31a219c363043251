package kinds

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// tree makes the namespaces <base>-root, -mid and -leaf, each below the one before it.
func tree(t *testing.T, base string) (root, mid, leaf string) {
	t.Helper()
	root, mid, leaf = base+"-root", base+"-mid", base+"-leaf"
	parent := ""
	for _, name := range []string{root, mid, leaf} {
		namespace(t, name, parent)
		parent = name
	}
	return root, mid, leaf
}

func namespace(t *testing.T, name, parent string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	suite.Must(t, "namespace "+name, func() error {
		_, err := alice.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
		return err
	})
	if parent == "" {
		return
	}
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}
	suite.Must(t, "hierarchy of "+name, func() error {
		_, err := alice.HNC.HncV1beta1().Hierarchies(name).Create(t.Context(), h, metav1.CreateOptions{})
		return err
	})
}

// tenantOf returns the clients of a new ServiceAccount that has a ClusterRole in a namespace, and nothing else.
func tenantOf(t *testing.T, namespace, name, role string) user {
	t.Helper()
	tenant, err := person(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: name}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return tenant
}

// resources reads entries "resource.group mode [onConflict]".
func resources(entries ...string) []v1beta1.ResourceSpec {
	var list []v1beta1.ResourceSpec
	for _, entry := range entries {
		words := append(strings.Fields(entry), "", "")
		resource, group, _ := strings.Cut(words[0], ".")
		list = append(list, v1beta1.ResourceSpec{
			Group: group, Resource: resource, Mode: v1beta1.SynchronizationMode(words[1]), OnConflict: v1beta1.ConflictPolicy(words[2]),
		})
	}
	return list
}

// setResources replaces the entries of the configuration as the operator.
func setResources(ctx context.Context, list []v1beta1.ResourceSpec) error {
	client := operator.HNC.HncV1beta1().HNCConfigurations()
	return retry.RetryOnConflict(suite.Backoff, func() error {
		c, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c.Spec.Resources = list
		_, err = client.Update(ctx, c, metav1.UpdateOptions{})
		return err
	})
}

// configure replaces the entries of the configuration until the test ends, and returns when they are acted on. After
// the test nothing is propagated any more that the next one does not ask for.
func configure(t *testing.T, entries ...string) {
	t.Helper()
	configuration(t)
	if err := setResources(t.Context(), resources(entries...)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := setResources(context.Background(), nil); err != nil {
			t.Error(err)
		}
		if err := observed(context.Background()); err != nil {
			t.Errorf("the empty configuration is not observed: %v", err)
		}
	})
	if err := observed(t.Context()); err != nil {
		t.Fatalf("the configuration is not observed: %v", err)
	}
}

// observed waits until the propagator acts on the configuration as it is.
func observed(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, suite.Interval, suite.Deadline, true, func(ctx context.Context) (bool, error) {
		c, err := operator.HNC.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ready := meta.FindStatusCondition(c.Status.Conditions, hnc.ConditionReady)
		return ready != nil && ready.ObservedGeneration == c.Generation, nil
	})
}

// configuration returns the configuration, which the propagator creates.
func configuration(t *testing.T) *v1beta1.HNCConfiguration {
	t.Helper()
	var c *v1beta1.HNCConfiguration
	suite.EventuallyEqual(t, "there is a configuration", "<nil>", func() (problem string) {
		var err error
		c, err = operator.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		return fmt.Sprint(err)
	})
	return c
}

// status returns what the configuration reports of a resource, as "group/version mode copies/sources".
func status(t *testing.T, resource string) string {
	t.Helper()
	for _, r := range configuration(t).Status.Resources {
		if r.Resource == resource {
			number := func(n *int32) string {
				if n == nil {
					return "-"
				}
				return fmt.Sprint(*n)
			}
			return fmt.Sprintf("%s/%s %s %s/%s", r.Group, r.Version, r.Mode, number(r.NumPropagatedObjects), number(r.NumSourceObjects))
		}
	}
	return "not active"
}

// condition returns the reason of a condition that is True, "" if there is none, and its message.
func condition(t *testing.T, conditionType string) (reason, message string) {
	t.Helper()
	c := meta.FindStatusCondition(configuration(t).Status.Conditions, conditionType)
	if c == nil || c.Status != metav1.ConditionTrue {
		return "", ""
	}
	return c.Reason, c.Message
}

func eventuallyStatus(t *testing.T, resource, want string) {
	t.Helper()
	suite.EventuallyEqual(t, "status of "+resource, want, func() string { return status(t, resource) })
}
