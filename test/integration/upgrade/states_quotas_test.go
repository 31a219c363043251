package upgrade

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// What was recorded has neither quotas nor records of use. The first quota counts what is there, and limits it.
func TestAnUpgradedTreeGetsAQuota(t *testing.T) {
	const label = "shop.tree.hnc.x-k8s.io/depth"
	client := root.HNC.HncV1beta1().HierarchicalResourceQuotas("shop")
	_, err := client.Create(t.Context(), &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "budget"}, Spec: v1beta1.HierarchicalResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("1000")}}}, metav1.CreateOptions{})
	must(t, err)
	var used int64
	counted := func() error {
		q, err := client.Get(t.Context(), "budget", metav1.GetOptions{})
		if err != nil {
			return err
		}
		namespaces, err := root.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: label})
		if err != nil {
			return err
		}
		var present int64
		for _, ns := range namespaces.Items {
			list, err := root.CoreV1().ConfigMaps(ns.Name).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				return err
			}
			present += int64(len(list.Items))
		}
		use := q.Status.Used[corev1.ResourceConfigMaps]
		condition := meta.FindStatusCondition(q.Status.Conditions, hnc.ConditionQuotaEnforced)
		if used = use.Value(); condition == nil || condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != q.Generation || used != present || present == 0 {
			return fmt.Errorf("%d ConfigMaps, status %+v", present, q.Status)
		}
		return nil
	}
	suite.Eventually(t, "the use from before is counted", counted)
	_, err = client.Patch(t.Context(), "budget", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"hard":{"configmaps":"%d"}}}`, used+1), metav1.PatchOptions{})
	must(t, err)
	suite.Eventually(t, "the limit applies", counted)
	create := func(name string) error {
		_, err := root.CoreV1().ConfigMaps("shop-web").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	suite.Eventually(t, "the last of the limit", func() error { return create("last") })
	if err := create("more"); err == nil || !strings.Contains(err.Error(), "exceeded") {
		t.Errorf("above the limit: %v", err)
	}
	must(t, root.CoreV1().ConfigMaps("shop-web").Delete(t.Context(), "last", metav1.DeleteOptions{}))
	must(t, client.Delete(t.Context(), "budget", metav1.DeleteOptions{}))
	suite.Eventually(t, "the limits are gone", func() error {
		limits, err := root.CoreV1().ResourceQuotas("").List(t.Context(), metav1.ListOptions{LabelSelector: hnc.LabelQuota})
		if err == nil && len(limits.Items) > 0 {
			err = fmt.Errorf("%d ResourceQuotas", len(limits.Items))
		}
		return err
	})
}
