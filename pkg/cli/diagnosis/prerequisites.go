package diagnosis

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Kubernetes reports whether the cluster serves the admission policies that protect copies. served are the resources of
// admissionregistration.k8s.io/v1.
func Kubernetes(version string, served []metav1.APIResource) Finding {
	const subject = "kubernetes"
	found := map[string]bool{}
	for _, resource := range served {
		found[resource.Name] = true
	}
	var missing []string
	for _, resource := range []string{"validatingadmissionpolicies", "mutatingadmissionpolicies"} {
		if !found[resource] {
			missing = append(missing, resource)
		}
	}
	if len(missing) > 0 {
		return Finding{Error, subject, fmt.Sprintf("version %s does not serve %s in admissionregistration.k8s.io/v1", version, strings.Join(missing, " and ")),
			"upgrade the cluster to Kubernetes 1.36 or later"}
	}
	return ok(subject, "version %s has what the servers need", version)
}

// RequestHeader reports whether hns-apiserver can recognize the requests that kube-apiserver forwards. It looks at the
// ConfigMap extension-apiserver-authentication in kube-system; nil means that it does not exist.
func RequestHeader(found *corev1.ConfigMap) Finding {
	const subject = "configmap extension-apiserver-authentication"
	if found == nil || found.Data["requestheader-client-ca-file"] == "" {
		return Finding{Error, subject, "it has no requestheader-client-ca-file: kube-apiserver cannot forward requests to other API servers",
			"start kube-apiserver with --requestheader-client-ca-file, --proxy-client-cert-file and --proxy-client-key-file"}
	}
	return ok(subject, "kube-apiserver can forward requests")
}

// Clock reports by how much a clock differs from kube-apiserver's. Certificates, tokens and leases depend on clocks.
// The times are those of a request and its response, so differences of up to skew are not reported.
func Clock(whose string, clock, server time.Time) Finding {
	subject := "clock of " + whose
	difference := clock.Sub(server).Round(time.Second)
	if difference.Abs() > skew {
		direction := "ahead of"
		if difference < 0 {
			direction = "behind"
		}
		return Finding{Warning, subject, fmt.Sprintf("it is %s %s kube-apiserver's", difference.Abs(), direction), "synchronize the clocks"}
	}
	return ok(subject, "it agrees with kube-apiserver's")
}

// Installations reports permissions of servers outside the namespace in which they belong, by the ClusterRoleBindings
// with our label: tenants can label their own objects. Of two installations, one serves the API, with data that the
// other does not have.
func Installations(bindings []rbacv1.ClusterRoleBinding) Finding {
	const subject = "installations"
	others := sets.New[string]()
	for _, binding := range bindings {
		for _, s := range binding.Subjects {
			if s.Kind == rbacv1.ServiceAccountKind && s.Namespace != hnc.SystemNamespace {
				others.Insert(s.Namespace + "/" + s.Name)
			}
		}
	}
	if len(others) > 0 {
		return Finding{Error, subject, "servers are installed outside " + hnc.SystemNamespace + ", too: serviceaccounts " + names.List(sets.List(others), 10, ", "),
			"remove all but one installation; the one in " + hnc.SystemNamespace + " has the volume with the hierarchies"}
	}
	return ok(subject, "one at most")
}

// Vacancy reports whether an APIService is free to be installed; nil means that it does not exist. HNC's definitions
// create an APIService of their own.
func Vacancy(api hnc.APIService, found *apiregistrationv1.APIService) Finding {
	subject := "apiservice " + api.Name
	switch {
	case found == nil:
		return ok(subject, "it can be created")
	case found.Spec.Service == nil, found.Spec.Service.Name == "hnc-resourcelist" && found.Spec.Service.Namespace == hnc.HNCNamespace:
		return Finding{Warning, subject, "HNC, or CustomResourceDefinitions of others, serve this version",
			"install beside HNC and migrate: see docs/migration.md; or delete the definitions if nothing in them is needed"}
	case found.Spec.Service.Name != api.Server || found.Spec.Service.Namespace != hnc.SystemNamespace:
		return Finding{Error, subject, fmt.Sprintf("it belongs to the service %s in namespace %s", found.Spec.Service.Name, found.Spec.Service.Namespace),
			"find out who owns it, and remove it first"}
	}
	return Finding{Warning, subject, "the servers are installed already", "upgrade them, in the way in which they were installed: see docs/operations.md"}
}

// TreeLabels reports external namespaces whose tree labels name others. HNS keeps those labels, because another tool
// manages them, and policies rely on them. Before the installation, whoever may update a namespace can set them.
func TreeLabels(namespaces []metav1.PartialObjectMetadata) Finding {
	const subject = "tree labels"
	found := sets.New[string]()
	for _, ns := range namespaces {
		for key := range ns.Labels {
			if ancestor, ok := hnc.TreeLabelAncestor(key); ok && ancestor != ns.Name && managedkeys.External(ns.Annotations) {
				found.Insert(ns.Name)
			}
		}
	}
	if len(found) > 0 {
		return Finding{Warning, subject, fmt.Sprintf("the annotation %s has HNS keep those of the namespaces %s", hnc.AnnotationManagedBy, names.List(sets.List(found), 10, ", ")),
			"see whether another tool manages these namespaces; if none does, remove the annotation and the labels"}
	}
	return ok(subject, "those of all namespaces will be written by HNS")
}
