package diagnosis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Policies reports which policies or bindings of a kind are missing.
func Policies(resource string, wanted, found []string) Finding {
	var missing []string
	for _, name := range wanted {
		if !slices.Contains(found, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return Finding{Error, resource, "missing, so that users may change what they protect: " + strings.Join(missing, ", "), "apply artifacts/policies"}
	}
	return ok(resource, "all %d exist", len(wanted))
}

// skew is the difference of clocks that is reported.
const skew = 5 * time.Second

// withoutLeader is what does not happen while no replica of a server leads.
var withoutLeader = map[string]string{
	hnc.PropagatorName: "nothing is propagated",
	hnc.SyncName:       "repositories are not applied, and what others change in the cluster stays",
}

// Leader reports on the lease of a server; nil means that it does not exist. now is the time of kube-apiserver.
func Leader(server string, lease *coordinationv1.Lease, now time.Time) Finding {
	subject, look := "lease "+server, "look at the pods of "+server+" in "+hnc.SystemNamespace
	if lease == nil || ptr.Deref(lease.Spec.HolderIdentity, "") == "" || lease.Spec.RenewTime == nil {
		return Finding{Error, subject, fmt.Sprintf("no replica of %s leads: %s", server, withoutLeader[server]), look}
	}
	age := now.Sub(lease.Spec.RenewTime.Time).Round(time.Second)
	life := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 15)) * time.Second
	switch {
	case age < -skew:
		return Finding{Warning, subject, fmt.Sprintf("the leader's clock is %s ahead of kube-apiserver's", -age), "synchronize the clocks of the nodes"}
	case age > life:
		return Finding{Error, subject, fmt.Sprintf("its holder %s has not renewed it for %s: %s", *lease.Spec.HolderIdentity, age, withoutLeader[server]), look + ", and at the clocks of the nodes"}
	}
	return ok(subject, "%s leads", *lease.Spec.HolderIdentity)
}

// Configuration reports the problems in the status of the configuration: kinds, and namespaces with conditions.
func Configuration(configuration *v1beta1.HNCConfiguration) []Finding {
	const subject = "hncconfiguration config"
	var findings []Finding
	if c := Paused(configuration); c != nil {
		findings = append(findings, Finding{Error, subject, fmt.Sprintf("%s (%s): %s", c.Type, c.Reason, c.Message),
			"read the differences below; then kubectl hns resume --trust=hierarchies or --trust=namespaces, as docs/backup.md describes"})
	}
	for _, c := range configuration.Status.Details() {
		// Ready summarizes the others.
		if c.Type == "Ready" || c.Type == hnc.ConditionPropagationPaused || c.Status != metav1.ConditionTrue {
			continue
		}
		hint := "kubectl hns config describe shows the details"
		if c.Type == "NamespaceCondition" {
			hint = "kubectl hns describe NAMESPACE says what to do"
		}
		findings = append(findings, Finding{Warning, subject, fmt.Sprintf("%s (%s): %s", c.Type, c.Reason, c.Message), hint})
	}
	if len(findings) == 0 {
		findings = append(findings, ok(subject, "no conditions"))
	}
	return findings
}

// Paused returns the condition that says why nothing is propagated, nil if that is not so.
func Paused(configuration *v1beta1.HNCConfiguration) *metav1.Condition {
	c := meta.FindStatusCondition(configuration.Status.Conditions, hnc.ConditionPropagationPaused)
	if c == nil || c.Status != metav1.ConditionTrue {
		return nil
	}
	return c
}

// hncManagerRole is the ClusterRole of HNC's controllers. It allows everything.
const hncManagerRole = "hnc-manager-role"

// Leftovers reports CustomResourceDefinitions, webhooks and the ClusterRole of HNC. While HNC manages the cluster, a
// migration removes definitions and webhooks. Without HNC, its webhooks fail.
func Leftovers(definitions, webhooks, roles []string) []Finding {
	var findings []Finding
	managed := false
	for _, name := range definitions {
		if strings.HasSuffix(name, "."+hnc.GroupName) {
			managed = true
			findings = append(findings, Finding{Warning, "customresourcedefinition " + name, "it is HNC's, and its objects are not those of hns-apiserver",
				"migrate them: see docs/migration.md; or, if HNC is gone and nothing in it is needed, remove the finalizers of its objects and delete it"})
		}
	}
	for _, name := range webhooks {
		switch {
		case !strings.HasPrefix(name, "hnc-"):
		case managed:
			findings = append(findings, Finding{Warning, "webhook configuration " + name, "it is HNC's, and rejects writes when HNC's server is gone",
				"the migration removes it; if HNC is gone, delete it"})
		default:
			findings = append(findings, Finding{Error, "webhook configuration " + name, "it is left of HNC, and rejects writes when HNC's server is gone", "delete it"})
		}
	}
	if !managed && slices.Contains(roles, hncManagerRole) {
		findings = append(findings, Finding{Warning, "clusterrole " + hncManagerRole, "it is left of HNC, and allows everything to HNC's ServiceAccount, " + hnc.HNCNamespace + "/default",
			"kubectl delete clusterrole " + hncManagerRole + ", and its ClusterRoleBinding"})
	}
	if len(findings) == 0 {
		findings = append(findings, ok("leftovers of HNC", "no definitions, webhook configurations or ClusterRoles"))
	}
	return findings
}

// Namespace reports whether the servers' namespace exists and is not being deleted.
func Namespace(found *metav1.PartialObjectMetadata) Finding {
	const subject = "namespace " + hnc.SystemNamespace
	switch {
	case found == nil:
		return Finding{Error, subject, "it does not exist", "install the servers: see docs/install.md"}
	case found.DeletionTimestamp != nil:
		return Finding{Error, subject, "it is being deleted, with the servers in it", "install the servers again when it is gone"}
	}
	return ok(subject, "it exists")
}
