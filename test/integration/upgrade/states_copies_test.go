package upgrade

import (
	"fmt"
	"strings"
	"testing"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestUpgradeWithCopiesThatAreKeptAlive(t *testing.T) {
	suite.Eventually(t, "the configuration reports them", func() error {
		config, err := root.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		must(t, err)
		var messages string
		for _, c := range config.Status.Conditions {
			messages += c.Message
		}
		for _, part := range []string{`rolebindings.rbac.authorization.k8s.io "revoked-view"`, `secrets "revoked"`} {
			if !strings.Contains(messages, part) {
				return fmt.Errorf("there is no %s in %s", part, messages)
			}
		}
		return nil
	})
	bindings, secrets := root.RbacV1().RoleBindings("finalized-sub"), root.CoreV1().Secrets("finalized-sub")
	// The user who has set a finalizer can take it off.
	const free = `{"metadata":{"finalizers":null}}`
	for _, name := range []string{"revoked-view", "granted-view"} {
		_, err := as(t, "mallory").RbacV1().RoleBindings("finalized-sub").Patch(t.Context(), name, types.MergePatchType, []byte(free), metav1.PatchOptions{})
		must(t, ignoreMissing(err))
	}
	_, err := as(t, "mallory").CoreV1().Secrets("finalized-sub").Patch(t.Context(), "revoked", types.MergePatchType, []byte(free), metav1.PatchOptions{})
	must(t, ignoreMissing(err))
	suite.Eventually(t, "what was revoked goes", func() error {
		if _, err := bindings.Get(t.Context(), "revoked-view", metav1.GetOptions{}); absent(err) != nil {
			return fmt.Errorf("RoleBinding revoked-view: %w", absent(err))
		}
		_, err := secrets.Get(t.Context(), "revoked", metav1.GetOptions{})
		return absent(err)
	})
	eventuallyCopied(t, "finalized-sub", "granted-view")
}

func TestUpgradeWithACopyThatWasTakenOver(t *testing.T) {
	quotas := root.CoreV1().ResourceQuotas("relabelled-sub")
	quota, err := quotas.Get(t.Context(), "small", metav1.GetOptions{})
	must(t, err)
	if quota.Labels[hnc.LabelInheritedFrom] != "" || quota.Spec.Hard.Pods().Value() != 100 {
		t.Fatalf("the state is not there: %v", quota)
	}
	// It is an ordinary object, and the copy comes back when it goes.
	must(t, quotas.Delete(t.Context(), "small", metav1.DeleteOptions{}))
	suite.Eventually(t, "the copy is there", func() error {
		quota, err := quotas.Get(t.Context(), "small", metav1.GetOptions{})
		if err == nil && quota.Spec.Hard.Pods().Value() != 1 {
			err = fmt.Errorf("it allows %v", quota.Spec.Hard.Pods())
		}
		return err
	})
}

func TestUpgradeWithWhatOnlyTheNewVersionKnows(t *testing.T) {
	config, err := root.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	must(t, err)
	if config.Spec.CreatorRole != "view" || len(config.Spec.Resources) != 3 || config.Spec.Resources[2].OnConflict != v1beta1.Keep {
		t.Errorf("the configuration says %+v", config.Spec)
	}
	spec := hierarchy(t, "fields-top").Spec
	if len(spec.RequiredChildren) != 1 || len(spec.NamespaceLabels) != 1 || len(spec.Propagation) != 1 || spec.Propagation[0].OnConflict != v1beta1.Keep {
		t.Errorf("the hierarchy says %+v", spec)
	}
	eventuallyReady(t, "fields-top")
	// A client of HNC replaces the whole objects.
	configurations := root.HNC.HncV1alpha2().HNCConfigurations()
	must(t, retry.RetryOnConflict(suite.Backoff, func() error {
		old, err := configurations.Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		if err == nil {
			_, err = configurations.Update(t.Context(), old, metav1.UpdateOptions{})
		}
		return err
	}))
	hierarchies := root.HNC.HncV1alpha2().HierarchyConfigurations("fields-top")
	must(t, retry.RetryOnConflict(suite.Backoff, func() error {
		old, err := hierarchies.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err == nil {
			_, err = hierarchies.Update(t.Context(), old, metav1.UpdateOptions{})
		}
		return err
	}))
	now, err := root.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	must(t, err)
	if !apiequality.Semantic.DeepEqual(now.Spec, config.Spec) || !apiequality.Semantic.DeepEqual(hierarchy(t, "fields-top").Spec, spec) {
		t.Errorf("an old client has changed %+v to %+v, or %+v to %+v", config.Spec, now.Spec, spec, hierarchy(t, "fields-top").Spec)
	}
	// A required child comes back.
	must(t, as(t, "vera").HNC.HncV1beta1().Subnamespaces("fields-top").Delete(t.Context(), "fields-child", metav1.DeleteOptions{}))
	suite.Eventually(t, "the required child is there again", func() error {
		s, err := root.HNC.HncV1beta1().Subnamespaces("fields-top").Get(t.Context(), "fields-child", metav1.GetOptions{})
		if err == nil && (s.DeletionTimestamp != nil || !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady)) {
			err = fmt.Errorf("it is %v", s.Status)
		}
		return err
	})
}
