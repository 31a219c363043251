package viewdefinition

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// builtIn are the plural, singular and short names of the kinds of kube-apiserver and of ours: kubectl does not expand
// a short name that is the name of any resource, so that "kubectl get po" of every user of the cluster would get a
// tenant's.
var builtIn = sets.New(strings.Fields(`
bindings binding
componentstatuses componentstatus cs
configmaps configmap cm
endpoints endpoint ep
events event ev
limitranges limitrange limits
namespaces namespace ns
nodes node no
persistentvolumeclaims persistentvolumeclaim pvc
persistentvolumes persistentvolume pv
pods pod po
podtemplates podtemplate
replicationcontrollers replicationcontroller rc
resourcequotas resourcequota quota
secrets secret
serviceaccounts serviceaccount sa
services service svc

mutatingadmissionpolicies mutatingadmissionpolicy
mutatingadmissionpolicybindings mutatingadmissionpolicybinding
mutatingwebhookconfigurations mutatingwebhookconfiguration
validatingadmissionpolicies validatingadmissionpolicy
validatingadmissionpolicybindings validatingadmissionpolicybinding
validatingwebhookconfigurations validatingwebhookconfiguration
customresourcedefinitions customresourcedefinition crd crds
apiservices apiservice
controllerrevisions controllerrevision
daemonsets daemonset ds
deployments deployment deploy
replicasets replicaset rs
statefulsets statefulset sts
selfsubjectreviews selfsubjectreview
tokenreviews tokenreview
localsubjectaccessreviews localsubjectaccessreview
selfsubjectaccessreviews selfsubjectaccessreview
selfsubjectrulesreviews selfsubjectrulesreview
subjectaccessreviews subjectaccessreview
horizontalpodautoscalers horizontalpodautoscaler hpa
cronjobs cronjob cj
jobs job
certificatesigningrequests certificatesigningrequest csr
clustertrustbundles clustertrustbundle
podcertificaterequests podcertificaterequest
leases lease
leasecandidates leasecandidate
endpointslices endpointslice
flowschemas flowschema
prioritylevelconfigurations prioritylevelconfiguration
storageversions storageversion
ingressclasses ingressclass
ingresses ingress ing
ipaddresses ipaddress ip
networkpolicies networkpolicy netpol
servicecidrs servicecidr
runtimeclasses runtimeclass
poddisruptionbudgets poddisruptionbudget pdb
clusterrolebindings clusterrolebinding
clusterroles clusterrole
rolebindings rolebinding
roles role
deviceclasses deviceclass
devicetaintrules devicetaintrule
resourceclaims resourceclaim
resourceclaimtemplates resourceclaimtemplate
resourceslices resourceslice
podgroups podgroup
priorityclasses priorityclass pc
workloads workload
csidrivers csidriver
csinodes csinode
csistoragecapacities csistoragecapacity
storageclasses storageclass sc
volumeattachments volumeattachment
volumeattributesclasses volumeattributesclass vac
storageversionmigrations storageversionmigration

copyreleases copyrelease
hierarchicalresourcequotas hierarchicalresourcequota hrq
hierarchies hierarchy hier
hierarchyconfigurations hierarchyconfiguration
hncconfigurations hncconfiguration
mynamespaces mynamespace myns
overwrittenobjects overwrittenobject
repositorysyncs repositorysync
subnamespaceanchors subnamespaceanchor
subnamespaces subnamespace subns
tenantviews tenantview
viewdefinitions viewdefinition
`)...)

// IsBuiltIn reports whether a name is the plural, singular or short one of a kind that clusters have without
// CustomResourceDefinitions.
func IsBuiltIn(name string) bool { return builtIn.Has(strings.ToLower(name)) }

// validateNames rejects names by which kubectl would find custom resources instead of built-in kinds. Short names are
// the view's: those in the cluster have a suffix.
func validateNames(names *apiextensionsv1.CustomResourceDefinitionNames, at *field.Path) field.ErrorList {
	singular := names.Singular
	if singular == "" {
		singular = strings.ToLower(names.Kind) // the default
	}
	var errs field.ErrorList
	for _, name := range []struct{ field, value string }{{"plural", names.Plural}, {"singular", singular}} {
		if IsBuiltIn(name.value) {
			errs = append(errs, field.Invalid(at.Child(name.field), name.value, fmt.Sprintf("%q is a name of a built-in kind; choose another, such as one with a prefix", name.value)))
		}
	}
	return errs
}
