package diagnosis

import (
	"crypto/x509"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// NotInstalled reports that there is nothing to look at.
var NotInstalled = Finding{Error, "installation", "the servers are not installed",
	"kubectl hns preflight says whether they can be; docs/install.md says how"}

// Unavailable reports that hns-apiserver does not answer.
func Unavailable(subject, message string) Finding {
	return Finding{Error, subject, message, "look at the pods of " + hnc.APIServerName + " in " + hnc.SystemNamespace + ", and at kubectl describe apiservice " + hnc.APIServices[0].Name}
}

// NoConfiguration reports that the configuration does not exist, or that its API is not served.
func NoConfiguration(unserved bool) Finding {
	const subject = "hncconfiguration config"
	if unserved {
		return Finding{Error, subject, "it cannot be read: the API is not served", "look at apiservice " + hnc.APIServices[0].Name + " above"}
	}
	return Finding{Warning, subject, "it does not exist yet: hns-propagator creates it when it starts", "wait some seconds, or look at the pods of hns-propagator in " + hnc.SystemNamespace}
}

// APIService reports on one of our APIServices; nil means that it does not exist.
func APIService(api hnc.APIService, found *apiregistrationv1.APIService) Finding {
	subject := "apiservice " + api.Name
	switch {
	case found == nil && api.Required:
		return Finding{Error, subject, "it does not exist", "install the servers: see docs/install.md"}
	case found == nil:
		return ok(subject, "it does not exist; this version is not served")
	case found.Spec.Service == nil:
		return Finding{Error, subject, "CustomResourceDefinitions serve this version, such as HNC's",
			"migrate from HNC: see docs/migration.md; or delete the definitions if nothing in them is needed, and apply the APIService again"}
	case found.Spec.Service.Name != api.Server || found.Spec.Service.Namespace != hnc.SystemNamespace:
		return Finding{Error, subject, fmt.Sprintf("it belongs to the service %s in namespace %s", found.Spec.Service.Name, found.Spec.Service.Namespace),
			"find out who owns it, remove it, and apply the APIService of the manifests or the chart again"}
	case found.Labels[hnc.LabelAutoManaged] != "false":
		return Finding{Error, subject, "CustomResourceDefinitions of the group may take it over",
			fmt.Sprintf("kubectl label apiservice %s %s=false", api.Name, hnc.LabelAutoManaged)}
	case found.Spec.InsecureSkipTLSVerify:
		return Finding{Error, subject, "kube-apiserver sends users' identities to any server that answers", "remove spec.insecureSkipTLSVerify"}
	case len(found.Spec.CABundle) == 0:
		return Finding{Error, subject, "spec.caBundle is empty: kube-apiserver does not trust " + api.Server,
			"look at the log of hns-propagator, which sets it with --manage-certificates"}
	}
	for _, c := range found.Status.Conditions {
		if c.Type == apiregistrationv1.Available && c.Status != apiregistrationv1.ConditionTrue {
			return Finding{Error, subject, fmt.Sprintf("unavailable, and no namespace in the cluster can finish being deleted: %s: %s", c.Reason, c.Message),
				"look at the pods of " + api.Server + " in " + hnc.SystemNamespace}
		}
	}
	return ok(subject, "available")
}

// soon is how long before its expiry a certificate should have been renewed.
const soon = 14 * 24 * time.Hour

// Certificate reports on the certificate that the pods of a server mount; nil means that the Secret does not exist. A
// server that is not deployed in the cluster has its certificate elsewhere. The bundle is what kube-apiserver trusts.
func Certificate(server string, secret *corev1.Secret, deployed bool, bundle []byte, now time.Time) Finding {
	subject := "secret " + server + "-cert"
	const renewal = "look at the log of hns-propagator, which renews it with --manage-certificates"
	if secret == nil && !deployed {
		return ok(subject, "not needed: %s runs outside the cluster's Deployments", server)
	}
	if secret == nil {
		return Finding{Error, subject, "it does not exist: " + server + " cannot start", renewal}
	}
	chain, err := cert.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
	if err != nil {
		return Finding{Error, subject, "tls.crt is not a certificate: " + err.Error(), "delete the Secret to have another one issued"}
	}
	leaf := chain[0]
	left := leaf.NotAfter.Sub(now).Round(time.Hour)
	if left <= 0 {
		return Finding{Error, subject, "the certificate has expired " + leaf.NotAfter.UTC().Format(time.RFC3339), renewal}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	name := server + "." + hnc.SystemNamespace + ".svc"
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: now}); err != nil {
		return Finding{Error, subject, "kube-apiserver does not trust the certificate: " + err.Error(),
			"set spec.caBundle of the APIServices to its authority; " + renewal}
	}
	if left < soon {
		return Finding{Warning, subject, fmt.Sprintf("the certificate expires in %s", left), renewal}
	}
	return ok(subject, "trusted, and valid for %d days", int(left.Hours()/24))
}
