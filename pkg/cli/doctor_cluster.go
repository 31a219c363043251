package cli

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
)

// checkCluster looks at what the servers need of the cluster, whether they are installed or not.
func (o *doctorOptions) checkCluster(ctx context.Context, now time.Time) {
	discovery := o.clients.Kube.Discovery()
	served, err := discovery.ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	if apierrors.IsNotFound(err) {
		served, err = &metav1.APIResourceList{}, nil
	}
	if !o.failed("kubernetes", err) {
		version, err := discovery.ServerVersion()
		if !o.failed("kubernetes", err) {
			o.add(diagnosis.Kubernetes(version.GitVersion, served.APIResources))
		}
	}
	authentication, err := o.clients.Kube.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
	if !o.failed("configmap extension-apiserver-authentication", err) {
		if err != nil {
			authentication = nil
		}
		o.add(diagnosis.RequestHeader(authentication))
	}
	o.add(diagnosis.Clock("this machine", time.Now(), now))
	bindings, err := o.clients.Kube.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{LabelSelector: hnc.SelectorPartOf})
	if !o.failed("clusterrolebindings", err) {
		o.add(diagnosis.Installations(bindings.Items))
	}
}

// notInstalled reports that neither the API nor the ServiceAccount of its server exists.
func notInstalled(ctx context.Context, o *doctorOptions) bool {
	service, err := o.apiService(ctx, hnc.APIServices[0].Name)
	if err != nil || service != nil {
		return false
	}
	_, err = o.clients.Kube.CoreV1().ServiceAccounts(hnc.SystemNamespace).Get(ctx, hnc.APIServerName, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

// checkVacancy looks for what is in the way of an installation.
func (o *doctorOptions) checkVacancy(ctx context.Context) {
	for _, api := range hnc.APIServices {
		found, err := o.apiService(ctx, api.Name)
		if !o.failed("apiservice "+api.Name, err) {
			o.add(diagnosis.Vacancy(api, found))
		}
	}
	namespaces, err := o.clients.namespaces.List(ctx, metav1.ListOptions{})
	if !o.failed("namespaces", err) && err == nil {
		o.add(diagnosis.TreeLabels(namespaces.Items))
	}
}

// apiService returns an APIService, nil if it does not exist.
func (o *doctorOptions) apiService(ctx context.Context, name string) (*apiregistrationv1.APIService, error) {
	object, err := o.clients.Dynamic.Resource(hnc.APIServiceResource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // There is none.
	}
	if err != nil {
		return nil, err
	}
	found := &apiregistrationv1.APIService{}
	return found, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, found)
}

// checkMigration looks at a migration from HNC, and reports whether one is not completed.
func (o *doctorOptions) checkMigration(ctx context.Context, definitions []string) bool {
	state, err := o.clients.Kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Get(ctx, hnc.Migration, metav1.GetOptions{})
	if o.failed("configmap "+hnc.Migration, err) {
		return false
	}
	if err != nil {
		state = nil
		left, err := frozen(ctx, o.clients)
		if !o.failed("validatingadmissionpolicybinding "+hnc.MigrationPolicy, err) && left {
			o.add(diagnosis.Frozen)
		}
	}
	system, err := o.clients.namespaces.Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
	if o.failed("namespace "+hnc.SystemNamespace, err) {
		return false
	}
	finding := diagnosis.Migration(state, err == nil && diagnosis.BesideHNC(definitions, system))
	if finding != nil {
		o.add(*finding)
	}
	if state != nil {
		o.checkHNC(ctx, state)
	}
	return finding != nil
}

// checkLeftovers looks at what HNC has in the cluster.
func (o *doctorOptions) checkLeftovers(ctx context.Context, definitions []string) {
	roles, ok := o.names(ctx, schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"})
	if !ok {
		return
	}
	var webhooks []string
	for _, resource := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		found, ok := o.names(ctx, schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource})
		if !ok {
			return
		}
		webhooks = append(webhooks, found...)
	}
	o.add(diagnosis.Leftovers(definitions, webhooks, roles)...)
	if !o.beforeInstall {
		o.checkHNC(ctx, nil)
	}
}

// checkHNC looks at HNC's controller, which must not run any more: state is that of the migration, if one is under way.
func (o *doctorOptions) checkHNC(ctx context.Context, state *corev1.ConfigMap) {
	scale, err := o.clients.Kube.AppsV1().Deployments(hnc.HNCNamespace).GetScale(ctx, "hnc-controller-manager", metav1.GetOptions{})
	if !o.failed("deployment hnc-controller-manager", err) && err == nil {
		o.add(diagnosis.RunningHNC(state, scale.Spec.Replicas)...)
	}
}

// checkServerClock compares the clock of hns-apiserver, which answers for its group, with kube-apiserver's.
func (o *doctorOptions) checkServerClock(ctx context.Context, now time.Time) {
	begin := time.Now()
	date, err := o.factory.date(ctx, "apis", v1beta1.SchemeGroupVersion.Group, v1beta1.SchemeGroupVersion.Version)
	// An API that is not served is another check's.
	if err == nil && !date.IsZero() {
		o.add(diagnosis.Clock(hnc.APIServerName, date, now.Add(time.Since(begin))))
	}
}
