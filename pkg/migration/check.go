package migration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// check returns an error if the migration cannot be made, before it changes anything. What comes before step begin is
// not checked again.
func (m *Migration) check(ctx context.Context, begin int) error {
	var err error
	if m.user, err = m.whoAmI(ctx); err != nil {
		return err
	}
	for _, check := range []func(context.Context) error{m.checkCluster, m.checkClock, m.checkServer} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	if begin > 0 {
		return nil
	}
	for _, check := range []func(context.Context) error{m.checkDefinitions, m.checkHNC, m.checkServices, m.checkPropagator, m.checkEmpty} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	e, err := m.read(ctx)
	if err != nil {
		return err
	}
	if err := checkFinalizers(e); err != nil {
		return err
	}
	if m.state == nil && !m.DryRun {
		if err := tryFile(m.File, e); err != nil {
			return err
		}
	}
	if _, err := os.Stat(m.File); err == nil && m.state == nil {
		if err := m.printf("%s exists; choose another file by --export, or remove it, before the migration.\n", m.File); err != nil {
			return err
		}
	}
	if err := m.describeRules(ctx); err != nil {
		return err
	}
	return m.describe(ctx, e)
}

// checkCluster requires admission policies and the authority by which hns-apiserver recognizes kube-apiserver.
func (c *clients) checkCluster(ctx context.Context) error {
	resources, err := c.kube.Discovery().ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	if err != nil {
		return err
	}
	for _, needed := range []string{"validatingadmissionpolicies", "mutatingadmissionpolicies"} {
		if !slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == needed }) {
			version, err := c.kube.Discovery().ServerVersion()
			if err != nil {
				return err
			}
			return fmt.Errorf("the cluster, of version %s, does not serve %s in admissionregistration.k8s.io/v1; upgrade it to Kubernetes 1.36 or later", version.GitVersion, needed)
		}
	}
	authentication, err := c.kube.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err != nil || authentication.Data["requestheader-client-ca-file"] == "" {
		return errors.New("configmap extension-apiserver-authentication in kube-system has no requestheader-client-ca-file: kube-apiserver cannot forward requests to other API servers; " +
			"start it with --requestheader-client-ca-file and --proxy-client-cert-file")
	}
	return nil
}

// maxSkew is by how much clocks may differ. Certificates, tokens and leases depend on them.
const maxSkew = 5 * time.Minute

// checkClock compares this machine's clock with kube-apiserver's.
func (m *Migration) checkClock(ctx context.Context) error {
	client, err := rest.HTTPClientFor(m.config)
	if err != nil {
		return err
	}
	url, _, err := rest.DefaultServerUrlFor(m.config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url.JoinPath("version").String(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return compareClocks(time.Now(), response.Header.Get("Date"))
}

// compareClocks returns an error if the clocks differ by too much. A proxy may leave the header out.
func compareClocks(now time.Time, header string) error {
	date, err := http.ParseTime(header)
	if err != nil {
		return nil //nolint:nilerr // Nothing is known.
	}
	if skew := now.Sub(date).Round(time.Second); skew.Abs() > maxSkew {
		return fmt.Errorf("the clocks of this machine and of kube-apiserver differ by %s; synchronize them", skew.Abs())
	}
	return nil
}

// checkServer requires hns-apiserver.
func (m *Migration) checkServer(ctx context.Context) error {
	_, err := m.hierarchy.HncV1beta1().HNCConfigurations().List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
		return fmt.Errorf("hns-apiserver does not serve hnc.x-k8s.io/v1beta1 (%s); install it beside HNC, as docs/migration.md describes, and wait until it is available", err.Error())
	}
	return err
}

// checkPropagator requires that hns-propagator has written nothing yet.
func (c *clients) checkPropagator(ctx context.Context) error {
	system, err := c.kube.CoreV1().Namespaces().Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if system.DeletionTimestamp != nil {
		return fmt.Errorf("namespace %s is being deleted; install hns-apiserver again when it is gone", hnc.SystemNamespace)
	}
	if system.Annotations[hnc.AnnotationStore] != "" {
		return fmt.Errorf("hns-propagator has already propagated hierarchies in this cluster, as the annotation %s of namespace %s says; HNC's definitions are leftovers: "+
			"delete them when nothing in them is needed", hnc.AnnotationStore, hnc.SystemNamespace)
	}
	return nil
}

// checkEmpty requires that hns-apiserver has nothing yet: what was written to it beside HNC would take effect after the
// migration, and HNC does not know of it.
func (c *clients) checkEmpty(ctx context.Context) error {
	for _, resource := range []string{"hierarchicalresourcequotas", "subnamespaces", "hierarchies"} {
		gvr := v1beta1.SchemeGroupVersion.WithResource(resource)
		list, err := c.dynamic.Resource(gvr).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return err
		}
		if len(list.Items) > 0 {
			o := list.Items[0]
			return fmt.Errorf("hns-apiserver has objects already, which were written while HNC serves the cluster and have no effect; make the changes with HNC if you want them, and delete them here: "+
				"kubectl delete %s.%s.%s %s -n %s", resource, gvr.Version, gvr.Group, o.GetName(), o.GetNamespace())
		}
	}
	return nil
}

// checkServices requires that the APIServices are HNC's or ours.
func (c *clients) checkServices(ctx context.Context) error {
	for name, servers := range map[string][]string{currentService: {hnc.APIServerName}, hncService: {"", hnc.APIServerName}, listService: {"", listServer, hnc.APIServerName}} {
		service, err := c.dynamic.Resource(hnc.APIServiceResource).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) && name != currentService {
			continue
		}
		if err != nil {
			return err
		}
		server, _, err := unstructured.NestedString(service.Object, "spec", "service", "name")
		if err != nil {
			return err
		}
		namespace, _, err := unstructured.NestedString(service.Object, "spec", "service", "namespace")
		if err != nil {
			return err
		}
		want := map[string]string{hnc.APIServerName: hnc.SystemNamespace, listServer: hnc.HNCNamespace}[server]
		if !slices.Contains(servers, server) || namespace != want {
			return fmt.Errorf("apiservice %s leads to service %s in namespace %s, which is neither HNC's nor hns-apiserver's; find out who owns it, and remove it first", name, server, namespace)
		}
		if name == hncService && server == hnc.APIServerName {
			return fmt.Errorf("apiservice %s leads to hns-apiserver already, so that HNC's objects cannot be read; "+
				"install hns-apiserver beside HNC, as docs/migration.md describes, and delete this APIService: HNC's definition creates its own", name)
		}
	}
	return nil
}

// checkDefinitions requires HNC's definitions.
func (c *clients) checkDefinitions(ctx context.Context) error {
	for _, resource := range hncResources {
		name := resource + "." + hnc.GroupName
		definition, err := c.dynamic.Resource(hnc.CRDResource).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) && resource == quotas:
			continue
		case apierrors.IsNotFound(err):
			return fmt.Errorf("customresourcedefinition %s does not exist: there is nothing to migrate, or the migration is completed; kubectl hns doctor looks at the result", name)
		case err != nil:
			return err
		case definition.GetDeletionTimestamp() != nil:
			return fmt.Errorf("customresourcedefinition %s is being deleted, with its objects; restore HNC from a backup, or migrate by hand from an export that you have", name)
		}
		for _, finalizer := range definition.GetFinalizers() {
			if finalizer != "customresourcecleanup.apiextensions.k8s.io" {
				return fmt.Errorf("customresourcedefinition %s has the finalizer %s, which would keep it when it is deleted; find out who set it, and remove it", name, finalizer)
			}
		}
	}
	return nil
}

// checkFinalizers rejects finalizers that HNC has not set.
func checkFinalizers(e *export) error {
	for _, object := range e.Items {
		if object.GetKind() == "CustomResourceDefinition" {
			continue
		}
		for _, finalizer := range object.GetFinalizers() {
			if !slices.Contains(finalizers, finalizer) {
				return fmt.Errorf("%s %s/%s has the finalizer %s, which is not HNC's and would keep its definition when that is deleted; find out who set it, and remove it",
					object.GetKind(), object.GetNamespace(), object.GetName(), finalizer)
			}
		}
	}
	return nil
}

// tryFile returns an error if there is no room for the export, or if the file is there already. Webhooks and changes
// until the export are allowed a megabyte more.
func tryFile(path string, e *export) error {
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s exists; choose another file by --export, or remove it", path)
	}
	trial := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-trial")
	content, err := yaml.Marshal(e)
	if err != nil {
		return err
	}
	if err := writeFile(trial, append(content, make([]byte, 1<<20)...)); err != nil {
		return err
	}
	return os.Remove(trial)
}
