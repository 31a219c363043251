package cli

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
)

// checkRepositories looks at the RepositorySyncs, and at hns-sync if there are any.
func (o *doctorOptions) checkRepositories(ctx context.Context, now time.Time) {
	syncs, err := o.clients.Hierarchy.HncV1alpha3().RepositorySyncs().List(ctx, metav1.ListOptions{})
	if o.failed("repositorysyncs", err) || err != nil || len(syncs.Items) == 0 {
		return
	}
	o.checkLeader(ctx, hnc.SyncName, now)
	o.add(diagnosis.RepositorySyncs(syncs.Items))
}

// checkQuotas looks at the webhook of hierarchical quotas.
func (o *doctorOptions) checkQuotas(ctx context.Context) {
	quotas, err := o.clients.Hierarchy.HncV1beta1().HierarchicalResourceQuotas(corev1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if o.failed("hierarchicalresourcequotas", err) || err != nil {
		return
	}
	_, err = o.clients.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, hnc.QuotaWebhookName, metav1.GetOptions{})
	if !o.failed("validatingwebhookconfiguration "+hnc.QuotaWebhookName, err) {
		o.add(diagnosis.QuotaWebhook(quotas.Items, err == nil)...)
	}
}

func (o *doctorOptions) checkLeader(ctx context.Context, server string, now time.Time) {
	lease, err := o.clients.Lease(ctx, server)
	if !o.failed("lease "+server, err) {
		o.add(diagnosis.Leader(server, lease, now))
	}
}
