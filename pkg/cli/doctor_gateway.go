package cli

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagatorroles"
)

// checkGateway looks at hns-gateway, if it is installed, and at the TenantViews.
func (o *doctorOptions) checkGateway(ctx context.Context, now time.Time) {
	views, err := o.clients.Hierarchy.HncV1alpha3().TenantViews(corev1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if o.failed("tenantviews", err) || err != nil {
		return
	}
	api := hnc.ViewAPIService
	found, err := o.apiService(ctx, api.Name)
	if o.failed("apiservice "+api.Name, err) {
		return
	}
	if found == nil {
		o.add(diagnosis.NoGateway(len(views.Items))...)
		return
	}
	o.add(diagnosis.APIService(api, found))
	o.checkCertificate(ctx, api.Server, found.Spec.CABundle, now)
	o.checkGatewayPermissions(ctx)
	o.add(diagnosis.Views(views.Items))
}

// checkViewDefinitions looks for CustomResourceDefinitions of views that do not exist any more.
func (o *doctorOptions) checkViewDefinitions(ctx context.Context) {
	definitions, err := o.clients.metadata.Resource(hnc.CRDResource).List(ctx, metav1.ListOptions{LabelSelector: hnc.LabelViewRoot})
	if o.failed(diagnosis.ViewDefinitionsSubject, err) || err != nil {
		return
	}
	namespaces, err := o.clients.namespaces.List(ctx, metav1.ListOptions{})
	if o.failed(diagnosis.ViewDefinitionsSubject, err) || err != nil {
		return
	}
	o.add(diagnosis.ViewDefinitions(definitions.Items, namespaces.Items)...)
}

// checkGatewayPermissions looks at what hns-gateway has to be allowed, and at what it must not be allowed.
func (o *doctorOptions) checkGatewayPermissions(ctx context.Context) {
	server := hnc.GatewayName
	missing, err := o.missingPermissions(ctx, server, diagnosis.GatewayNeeds)
	if o.failed("permissions of "+server, err) {
		return
	}
	var excessive []string
	for _, resource := range []string{"users", "serviceaccounts"} {
		allowed, err := propagatorroles.Allowed(ctx, o.clients.Kube, server, authorizationv1.ResourceAttributes{Resource: resource, Verb: "impersonate"})
		if o.failed("permissions of "+server, err) {
			return
		}
		if allowed {
			excessive = append(excessive, "impersonate "+resource)
		}
	}
	o.add(diagnosis.GatewayPermissions(missing, excessive))
}
