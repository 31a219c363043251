package diagnosis

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestKubernetes(t *testing.T) {
	resources := func(names ...string) []metav1.APIResource {
		var list []metav1.APIResource
		for _, name := range names {
			list = append(list, metav1.APIResource{Name: name})
		}
		return list
	}
	expect(t, "1.37", Kubernetes("v1.37.1", resources("validatingadmissionpolicies", "mutatingadmissionpolicies")), OK, "v1.37.1")
	expect(t, "1.30", Kubernetes("v1.30.2", resources("validatingadmissionpolicies")), Error, "v1.30.2 does not serve mutatingadmissionpolicies in")
	expect(t, "1.29", Kubernetes("v1.29.0", resources("validatingwebhookconfigurations")), Error, "does not serve validatingadmissionpolicies and mutatingadmissionpolicies")
	expect(t, "1.15", Kubernetes("v1.15.0", nil), Error, "does not serve")
}

func TestRequestHeader(t *testing.T) {
	found := &corev1.ConfigMap{Data: map[string]string{"client-ca-file": "a", "requestheader-client-ca-file": "b"}}
	expect(t, "present", RequestHeader(found), OK, "can forward")
	delete(found.Data, "requestheader-client-ca-file")
	expect(t, "missing", RequestHeader(found), Error, "no requestheader-client-ca-file")
	expect(t, "no ConfigMap", RequestHeader(nil), Error, "no requestheader-client-ca-file")
}

func TestClock(t *testing.T) {
	now := time.Now()
	expect(t, "equal", Clock("a", now, now.Add(time.Second)), OK, "agrees")
	expect(t, "ahead", Clock("a", now.Add(time.Minute), now), Warning, "1m0s ahead of")
	expect(t, "behind", Clock("a", now.Add(-time.Hour), now), Warning, "1h0m0s behind")
}

func TestInstallations(t *testing.T) {
	binding := func(namespace string) rbacv1.ClusterRoleBinding {
		return rbacv1.ClusterRoleBinding{Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: "hns-apiserver"}, {Kind: "Group", Name: "any"}}}
	}
	expect(t, "none", Installations(nil), OK, "one at most")
	expect(t, "one", Installations([]rbacv1.ClusterRoleBinding{binding(hnc.SystemNamespace)}), OK, "one at most")
	expect(t, "two", Installations([]rbacv1.ClusterRoleBinding{binding(hnc.SystemNamespace), binding("hnc")}), Error, "serviceaccounts hnc/hns-apiserver")
}

// Who may update a namespace could forge labels before the installation, which then protects them.
func TestTreeLabelsOfExternalNamespaces(t *testing.T) {
	namespace := func(name, manager, ancestor string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{hnc.AnnotationManagedBy: manager}, Labels: map[string]string{hnc.TreeLabel(ancestor): "1"},
		}}
	}
	expect(t, "none", TreeLabels(nil), OK, "all namespaces")
	expect(t, "of itself, and not external", TreeLabels([]metav1.PartialObjectMetadata{namespace("a", "tool", "a"), namespace("b", "", "a")}), OK, "all namespaces")
	expect(t, "of another", TreeLabels([]metav1.PartialObjectMetadata{namespace("a", "tool", "a"), namespace("b", "tool", "a")}), Warning, "namespaces b")
}

func TestVacancy(t *testing.T) {
	found := &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{Service: &apiregistrationv1.ServiceReference{Name: "hns-apiserver", Namespace: hnc.SystemNamespace}}}
	expect(t, "free", Vacancy(hnc.APIServices[0], nil), OK, "can be created")
	expect(t, "ours", Vacancy(hnc.APIServices[0], found), Warning, "installed already")
	found.Spec.Service.Namespace = "other"
	expect(t, "foreign", Vacancy(hnc.APIServices[0], found), Error, "belongs to the service hns-apiserver in namespace other")
	found.Spec.Service = nil
	expect(t, "HNC's", Vacancy(hnc.APIServices[0], found), Warning, "HNC, or CustomResourceDefinitions of others, serve this version")
	found.Spec.Service = &apiregistrationv1.ServiceReference{Name: "hnc-resourcelist", Namespace: hnc.HNCNamespace}
	expect(t, "HNC's server of lists", Vacancy(hnc.APIServices[0], found), Warning, "HNC, or CustomResourceDefinitions of others, serve this version")
}
