package main

import (
	"regexp"
	"slices"
)

// notRun match specs that are not run, as those with the label NodeConformance: they run containers, or connect to
// pods, nodes or Services. Simulated pods are always ready, and those of Jobs always succeed. Those of chunks end the
// whole run where they may not create PodTemplates, and those of suspended CronJobs wait for minutes.
var notRun = []string{
	`API chunking`,
	`AdmissionWebhook`, `CustomResourceConversionWebhook`, `CustomResourceFieldSelectors`, `Aggregator Should`,
	`CronJob should (not schedule|replace|schedule)`, `Daemon set should rollback`, `Deployment deployment should support proportional`, `serve a basic image`,
	`Job should (adopt|allow|apply changes|delete a job|execute all|mark indexes|terminate)`, `Job with successPolicy succeeded`,
	`\[StatefulSetBasic\] (Burst|Scaling|Should recreate|should perform)`,
	`Projected PodCertificate .* should (allow|honor|issue)`, `ClusterTrustBundleProjection\] should`, `ServiceAccounts (ServiceAccountIssuerDiscovery|should mount)`,
	`Guestbook`, `Kubectl expose`, `Kubectl logs`, `Update Demo`,
	`API Server should have Endpoints`, `DNS should`, `EndpointSlice should support a Service with`, `HostPort`, `Proxy version`,
	`Services should (be able|have session|serve)`,
	`as environment variable names`, `ImageVolume`, `Pod InPlace Resize`, `Pod Generation (issue|pod)`, `PreStop`, `Probing`, `Security Context`,
	`Variable Expansion`, `EmptyDir`, `Subpath`,
	`SchedulerPredicates`, `SchedulerPreemption (Preemption|validates)`,
}

// Classes of reasons.
const (
	byDesign = "By design"
	byRBAC   = "RBAC"
	bug      = "Bug"
)

// reason is why a spec that passes in the cluster fails in views.
type reason struct{ class, why string }

// rule is the reason of specs that match.
type rule struct {
	specs string
	reason
}

// ofRealNames are the reasons that only the view with real names has, before all others.
var ofRealNames = []rule{
	{`CustomResource|FieldValidation .* CR |CR (with|when)|for CRDs`, reason{byDesign, "a view with real names has no CustomResourceDefinitions of its own"}},
}

// reasons are those of all views. The first match counts.
var reasons = []rule{
	{`CustomResourceDefinition (Watch|resources)|FieldValidation .* CR `, reason{byDesign, "the custom resources of a view are namespaced, and those of the specs apply to the whole cluster"}},
	{`AdmissionPolicy`, reason{byDesign, "admission policies would apply to other tenants"}},
	{`AggregatedDiscovery|Discovery should locate`, reason{byDesign, "discovery contains what a view serves, and the specs look for webhook configurations"}},
	{
		`API priority and fairness|StorageVersionMigration|Certificates API|ServiceCIDR|csinode|VolumeAttachment|ResourceSlice|DeviceTaintRule|PersistentVolumes`,
		reason{byDesign, "the kind applies to the whole cluster"},
	},
	{
		`Node Lifecycle|NoExecuteTaintManager|run and stop complex daemon|StorageClass|IngressClass|RuntimeClass|PriorityClass|VolumeAttributesClass|DeviceClass|CSIDriver|ClusterTrustBundles`,
		reason{byDesign, "nodes and classes are read-only"},
	},
	{`StatefulSet`, reason{byDesign, "the specs end when there are no PersistentVolumes, which apply to the whole cluster"}},
	{`TokenReview`, reason{byDesign, "a TokenReview would answer for users of the whole cluster"}},
	{`SubjectReview`, reason{byDesign, "there is no impersonation in a view"}},
	{`Namespaces should apply (a finalizer|changes)`, reason{byDesign, "status and finalizers of namespaces are the cluster's"}},
	{`Namespaces should (apply an update|patch)`, reason{byDesign, "labels that hierarchies do not manage are left out, with a warning"}},
	{`PodCertificateRequest API`, reason{byRBAC, "requires the verb `sign` on a signer, in the whole cluster"}},
	{
		`ResourceQuota should apply changes to a resourcequota status`,
		reason{byRBAC, "the ClusterRole `admin` is not enough; with `cluster-admin`, the spec waits for a resync of quotas for longer than specs run here"},
	},
	{`CRUD Tests resource.k8s.io/v1 ResourceClaim `, reason{byRBAC, "requires a permission on `resourceclaims/binding`, in the whole cluster"}},
}

// ownerPasses is the reason of specs that pass with the ClusterRole cluster-admin in the root of the tree.
var ownerPasses = reason{byRBAC, "the ClusterRole `admin` is not enough; in the root of the tree, `cluster-admin` is"}

// unknown is the reason of all others.
var unknown = reason{bug, "to be found"}

// known returns the reason of a spec that the lists above contain, for a view by the name of its run.
func known(name, view string) (reason, bool) {
	rules := reasons
	if view == realNames {
		rules = slices.Concat(ofRealNames, reasons)
	}
	for _, r := range rules {
		if regexp.MustCompile(r.specs).MatchString(name) {
			return r.reason, true
		}
	}
	return reason{}, false
}
