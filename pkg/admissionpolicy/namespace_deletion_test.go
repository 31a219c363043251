package admissionpolicy

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"

func namespaceDeletionRows() []row {
	ofAcme := annotation(hnc.AnnotationSubnamespaceOf, "acme")
	parent := label(hnc.LabelHasSubnamespaces, "true")
	cascading := label(hnc.LabelCascadingDeletion, hnc.CascadingAllowed)
	orphaned := label(hnc.LabelOrphaned, "true")
	instead := "namespace team-a is a sub-namespace of acme: delete subnamespaces.hnc.x-k8s.io team-a in namespace acme instead: " +
		"kubectl delete subns team-a -n acme"
	first := "namespace team-a has sub-namespaces: delete them first (kubectl get ns -l team-a.tree.hnc.x-k8s.io/depth=1 lists the children), or allow their deletion " +
		"along with it by spec.allowCascadingDeletion of hierarchies.hnc.x-k8s.io hierarchy in namespace team-a"
	return []row{
		{name: "deletion: an external namespace is not a sub-namespace", request: request{old: namespace("team-a",
			annotation(hnc.AnnotationSubnamespaceOf, "acme"), annotation(hnc.AnnotationManagedBy, "other"))}},
		{name: "N8 deletion: one of ours by name is", denied: "is a sub-namespace of acme", request: request{old: namespace("team-a",
			annotation(hnc.AnnotationSubnamespaceOf, "acme"), annotation(hnc.AnnotationManagedBy, hnc.GroupName))}},
		{name: "N10 deletion: any other namespace", request: request{old: namespace("team-a", label("a", "b"))}},
		{name: "N10 deletion: a converted sub-namespace", request: request{old: namespace("team-a", annotation(hnc.AnnotationSubnamespaceOf, ""))}},
		{name: "N10 deletion: an orphaned sub-namespace", request: request{old: namespace("team-a", ofAcme, orphaned)}},
		{name: "N9 deletion: a parent that allows it", request: request{old: namespace("team-a", parent, cascading)}},
		{name: "C2 deletion: a sub-namespace by the propagator", request: request{user: hnc.PropagatorUser, old: namespace("team-a", ofAcme)}},
		{name: "C2 deletion: a parent by the propagator", request: request{user: hnc.PropagatorUser, old: namespace("team-a", parent)}},
		{name: "deletion: a terminating sub-namespace, again", request: request{old: namespace("team-a", ofAcme, terminating)}},
		{name: "deletion: a terminating parent, again", request: request{old: namespace("team-a", parent, terminating)}},
		{name: "N8 deletion: a sub-namespace", request: request{old: namespace("team-a", ofAcme)}, denied: instead},
		{name: "N8 deletion: a sub-namespace, by a restorer", request: request{user: restorer, old: namespace("team-a", ofAcme)}, denied: instead},
		{name: "N8 deletion: a sub-namespace, though cascading", request: request{old: namespace("team-a", ofAcme, parent, cascading)}, denied: instead},
		{name: "N9 deletion: a parent", request: request{old: namespace("team-a", parent)}, denied: first},
		{name: "N9 deletion: a parent, by a restorer", request: request{user: restorer, old: namespace("team-a", parent)}, denied: first},
		{name: "N9 deletion: a parent that is orphaned", request: request{old: namespace("team-a", parent, orphaned, ofAcme)}, denied: first},
		{name: "N9 deletion: a parent with another word for allowed", denied: first,
			request: request{old: namespace("team-a", parent, label(hnc.LabelCascadingDeletion, "true"))}},
	}
}
