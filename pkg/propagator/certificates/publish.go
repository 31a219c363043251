package certificates

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// injector annotates objects whose bundle cert-manager sets.
const injector = "cert-manager.io/inject-ca-from"

// publish writes the bundle into all APIServices that do not have it, if they exist and refer to one of our Services. The
// propagator's role names them, too.
func (c *Controller) publish(ctx context.Context, bundle []byte) error {
	names := []string{hnc.ViewAPIService.Name}
	for _, service := range hnc.APIServices {
		names = append(names, service.Name)
	}
	var errs []error
	for _, name := range names {
		object, exists, err := c.registrations.GetStore().GetByKey(name)
		if err != nil || !exists {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, c.publishIn(ctx, object.(*unstructured.Unstructured), bundle))
	}
	return errors.Join(errs...)
}

func (c *Controller) publishIn(ctx context.Context, object *unstructured.Unstructured, bundle []byte) error {
	service, _, err := unstructured.NestedStringMap(withoutPort(object), "spec", "service")
	if err != nil {
		return err
	}
	if name := service["name"]; name != apiServerService && name != gatewayService || service["namespace"] != hnc.SystemNamespace {
		// Another server is registered, such as HNC's own or none at all.
		return nil
	}
	if by := object.GetAnnotations()[injector]; by != "" {
		return fmt.Errorf("apiservice %s: cert-manager sets its caBundle; remove the annotation %s, or --manage-certificates", object.GetName(), injector)
	}
	encoded := base64.StdEncoding.EncodeToString(bundle)
	if published, _, err := unstructured.NestedString(object.Object, "spec", "caBundle"); err != nil || published == encoded {
		return err
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()},
		"spec":     map[string]any{"caBundle": encoded},
	})
	if err != nil {
		return err
	}
	_, err = c.dynamic.Resource(hnc.APIServiceResource).Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	return err
}

// withoutPort leaves out the only field of spec.service that is not a string.
func withoutPort(object *unstructured.Unstructured) map[string]any {
	copied := object.DeepCopy().Object
	unstructured.RemoveNestedField(copied, "spec", "service", "port")
	return copied
}
