package rules

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindsThatAreNotProjected(t *testing.T) {
	for name, projected := range map[string]bool{
		"clusterissuers.cert-manager.io":    true,
		"nodes.metrics.k8s.io":              true,
		"persistentvolumes":                 true,
		"storageclasses.storage.k8s.io":     true,
		"deployments.apps":                  true,
		"flowschemas.flowcontrol.apiserver": true,
		"x.myhnc.x-k8s.io":                  true,

		"namespaces":                                                     false,
		"clusterroles.rbac.authorization.k8s.io":                         false,
		"clusterrolebindings.rbac.authorization.k8s.io":                  false,
		"customresourcedefinitions.apiextensions.k8s.io":                 false,
		"selfsubjectreviews.authentication.k8s.io":                       false,
		"selfsubjectaccessreviews.authorization.k8s.io":                  false,
		"selfsubjectrulesreviews.authorization.k8s.io":                   false,
		"subjectaccessreviews.authorization.k8s.io":                      false,
		"tokenreviews.authentication.k8s.io":                             false,
		"validatingwebhookconfigurations.admissionregistration.k8s.io":   false,
		"mutatingwebhookconfigurations.admissionregistration.k8s.io":     false,
		"validatingadmissionpolicies.admissionregistration.k8s.io":       false,
		"validatingadmissionpolicybindings.admissionregistration.k8s.io": false,
		"mutatingadmissionpolicies.admissionregistration.k8s.io":         false,
		"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   false,
		"apiservices.apiregistration.k8s.io":                             false,
		"certificatesigningrequests.certificates.k8s.io":                 false,
		"hncconfigurations.hnc.x-k8s.io":                                 false,
		"pods.resources.hnc.x-k8s.io":                                    false,
		"tenantviews.view.hnc.x-k8s.io":                                  false,
		"widgets.example.com.acme-12345.views.hnc.x-k8s.io":              false,
	} {
		if reason := NotProjected(schema.ParseGroupResource(name)); (reason == "") != projected {
			t.Errorf("%s: %q", name, reason)
		}
	}
}
