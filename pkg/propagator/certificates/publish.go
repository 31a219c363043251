package certificates

import (
	"bytes"
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

// publish writes the bundle into all APIServices that do not have it, if they exist and refer to one of our Services.
// The propagator's role names them, too. It returns the Services to which an APIService refers that does not have the
// current authority.
func (c *Controller) publish(ctx context.Context, s state) (untrusting map[string]bool, err error) {
	names := []string{hnc.ViewAPIService.Name}
	for _, service := range hnc.APIServices {
		names = append(names, service.Name)
	}
	untrusting = map[string]bool{}
	var errs []error
	for _, name := range names {
		object, exists, err := c.registrations.GetStore().GetByKey(name)
		if err != nil || !exists {
			errs = append(errs, err)
			continue
		}
		registration := object.(*unstructured.Unstructured)
		service, err := serviceOf(registration)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if service == "" {
			continue
		}
		published, err := c.publishIn(ctx, registration, s.bundle())
		if err != nil && !bytes.Contains(published, s.current.certificate) {
			untrusting[service] = true
		}
		errs = append(errs, err)
	}
	return untrusting, errors.Join(errs...)
}

// serviceOf returns to which of our Services an APIService refers, "" if to none.
func serviceOf(object *unstructured.Unstructured) (string, error) {
	service, _, err := unstructured.NestedStringMap(withoutPort(object), "spec", "service")
	if name := service["name"]; err != nil || name != hnc.APIServerName && name != hnc.GatewayName || service["namespace"] != hnc.SystemNamespace {
		// Another server is registered, such as HNC's own or none at all.
		return "", err
	}
	return service["name"], nil
}

// publishIn returns the bundle that the APIService had, besides an error.
func (c *Controller) publishIn(ctx context.Context, object *unstructured.Unstructured, bundle []byte) (published []byte, err error) {
	present, _, err := unstructured.NestedString(object.Object, "spec", "caBundle")
	if err != nil {
		return nil, err
	}
	// What is no base64 has no authority.
	published, _ = base64.StdEncoding.DecodeString(present)
	if by := object.GetAnnotations()[injector]; by != "" {
		return published, fmt.Errorf("apiservice %s: cert-manager sets its caBundle; remove the annotation %s, or --manage-certificates", object.GetName(), injector)
	}
	encoded := base64.StdEncoding.EncodeToString(bundle)
	if present == encoded {
		return published, nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()},
		"spec":     map[string]any{"caBundle": encoded},
	})
	if err != nil {
		return published, err
	}
	_, err = c.dynamic.Resource(hnc.APIServiceResource).Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: hnc.PropagatorName})
	return published, err
}

// withoutPort leaves out the only field of spec.service that is not a string.
func withoutPort(object *unstructured.Unstructured) map[string]any {
	copied := object.DeepCopy().Object
	unstructured.RemoveNestedField(copied, "spec", "service", "port")
	return copied
}
