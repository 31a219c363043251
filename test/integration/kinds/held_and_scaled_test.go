package kinds

import (
	"context"
	"fmt"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Admission sees a Scale without the labels of its object, so no policy can deny it for copies: the propagator reverts
// it.
func TestScalingACopyIsReverted(t *testing.T) {
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "deployments-for-propagator", Labels: map[string]string{"rbac.hnc.x-k8s.io/aggregate-to-propagator": "true"}},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list", "watch", "create", "update", "delete"},
		}},
	}
	if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	scaler, err := person(t.Context(), "scaler", rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments/scale"}, Verbs: []string{"patch"}})
	if err != nil {
		t.Fatal(err)
	}
	configure(t, "deployments.apps")
	root, _, leaf := tree(t, "scale")
	none, app := int32(0), map[string]string{"app": "web"}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &none,
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
	if _, err := admin.AppsV1().Deployments(root).Create(t.Context(), web, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "the copy", "<nil>", func() (problem string) {
		_, err := admin.AppsV1().Deployments(leaf).Get(t.Context(), "web", metav1.GetOptions{})
		return fmt.Sprint(err)
	})
	suite.Must(t, "scaling", func() error {
		_, err := scaler.AppsV1().Deployments(leaf).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{}, "scale")
		return err
	})
	// The scaling is acknowledged, so a read that shows the old number of replicas follows the reversal. The generation
	// says no more than that: the Deployment controller raises it too, with its annotation.
	suite.EventuallyEqual(t, "replicas of the copy", "0", func() string {
		d, err := admin.AppsV1().Deployments(leaf).Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(*d.Spec.Replicas)
	})
}

// The garbage collector would delete such a copy with its owner, or, because the policy denies that, try again and
// again.
func TestOwnersOfACopyAreRemoved(t *testing.T) {
	configure(t, "configmaps")
	root, _, leaf := tree(t, "owned")
	put(t, configMaps, object("ConfigMap", root, "a", "1"))
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	owner := `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"none","uid":"0c8b1d4e-0000-4000-8000-000000000000"}]}}`
	if err := patch(t, configMaps, leaf, "a", owner); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "owners of the copy", "[]", func() string {
		c, err := admin.CoreV1().ConfigMaps(leaf).Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(c.OwnerReferences)
	})
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
}

// Each write of the propagator names a version that is not the latest one any more.
func TestACopyThatAnEditorChangesAllTheTimeFollowsItsSource(t *testing.T) {
	configure(t, "networkpolicies.networking.k8s.io")
	root, _, leaf := tree(t, "touched")
	put(t, networkPolicies, object("NetworkPolicy", root, "isolated", "before"))
	eventuallyPresent(t, networkPolicies, leaf, "isolated=before<"+root)
	client := tenantOf(t, leaf, "touched-editor", "edit").Dynamic.Resource(networkPolicies).Namespace(leaf)
	touch := func(ctx context.Context) error {
		owner := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"none","uid":%q}]}}`, uuid.NewUUID())
		_, err := client.Patch(ctx, "isolated", types.MergePatchType, []byte(owner), metav1.PatchOptions{})
		return err
	}
	suite.Must(t, "a change of the editor's", func() error { return touch(t.Context()) })
	ctx, stop := context.WithCancel(t.Context())
	var touching sync.WaitGroup
	for range 20 {
		touching.Go(func() {
			for ctx.Err() == nil {
				_ = touch(ctx)
			}
		})
	}
	defer touching.Wait()
	defer stop()
	put(t, networkPolicies, object("NetworkPolicy", root, "isolated", "after"))
	eventuallyPresent(t, networkPolicies, leaf, "isolated=after<"+root)
}

func TestAFinalizerThatKeepsACopyIsReported(t *testing.T) {
	configure(t, "configmaps")
	root, _, leaf := tree(t, "held")
	put(t, configMaps, object("ConfigMap", root, "a", "1"))
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	if err := patch(t, configMaps, leaf, "a", `{"metadata":{"finalizers":["example.com/hold"]}}`); err != nil {
		t.Fatal(err)
	}
	remove(t, configMaps, root, "a")
	reported := func() string {
		h, err := alice.HNC.HncV1beta1().Hierarchies(leaf).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		for _, c := range h.Status.Details() {
			if c.Type == hnc.ConditionOutOfSync {
				return c.Reason + " " + c.Message
			}
		}
		return ""
	}
	suite.EventuallyEqual(t, "condition", `SomeFinalizersRemain copies in namespace "`+leaf+
		`" no longer apply, but finalizers keep them: configmaps "a"; clear metadata.finalizers of these objects`, reported)
	if err := patch(t, configMaps, leaf, "a", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "condition", "", reported)
	eventuallyPresent(t, configMaps, leaf, "")
}
