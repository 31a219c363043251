package suite

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

// SetRules sets spec.rules of the configuration, which it creates if hns-propagator has not done so. The hns-apiserver
// that stores it applies it at once.
func SetRules(ctx context.Context, client versioned.Interface, rules *v1beta1.Rules) error {
	configurations := client.HncV1beta1().HNCConfigurations()
	unsettled := func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
	return retry.OnError(Backoff, unsettled, func() error {
		c, err := configurations.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			c = &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: v1beta1.HNCConfigurationSpec{Rules: rules}}
			_, err = configurations.Create(ctx, c, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		c.Spec.Rules = rules
		_, err = configurations.Update(ctx, c, metav1.UpdateOptions{})
		return err
	})
}
