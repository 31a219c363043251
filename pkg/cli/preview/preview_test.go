package preview

import (
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

func answer(namespaces ...v1alpha3.NamespacePlan) *v1alpha3.HierarchyPlan {
	return &v1alpha3.HierarchyPlan{Status: v1alpha3.HierarchyPlanStatus{Namespaces: namespaces}}
}

func TestText(t *testing.T) {
	plan := answer(
		v1alpha3.NamespacePlan{
			Name: "team-b",
			Objects: []v1alpha3.PlannedObject{
				{Action: v1alpha3.ActionAdd, Kind: "Role", Name: "a", Source: "globex"},
				{Action: v1alpha3.ActionOverwrite, Kind: "ConfigMap", Name: "b", Source: "globex", Difference: "-data: 1\n+data: 2\n"},
				{Action: v1alpha3.ActionRemove, Kind: "Role", Name: "c", Source: "acme"},
			},
			Access: []v1alpha3.PlannedAccess{
				{Change: v1alpha3.AccessGained, Kind: "User", Name: "jane", RoleKind: "ClusterRole", Role: "view"},
				{Change: v1alpha3.AccessLost, Kind: "ServiceAccount", Namespace: "ci", Name: "robot", RoleKind: "Role", Role: "deploy"},
			},
			Quotas: []v1alpha3.PlannedQuota{{Name: "small", Resource: "count/configmaps", Hard: 1, Planned: 3}},
		},
		v1alpha3.NamespacePlan{Name: "leaf", Fate: v1alpha3.FateOrphaned},
	)
	plan.Spec = v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: "globex"}
	plan.Status.Summary = v1alpha3.PlanSummary{Orphaned: 1, Added: 3, Overwritten: 1, Removed: 1}
	plan.Status.ExceededQuotas = []v1alpha3.ExceededQuota{
		{Namespace: "globex", Name: "budget", Resource: "pods", Used: "3", Moved: "2", Limit: "4"},
		{Namespace: "globex", Name: "budget", Resource: "requests.cpu", Used: "500m", Moved: "1", Limit: "1"},
	}
	plan.Status.OmittedExceededQuotas = 2
	plan.Status.Hidden = []v1alpha3.HiddenKind{{Resource: "secrets"}, {Group: "rbac.authorization.k8s.io", Resource: "roles"}}
	plan.Status.Refusals = []v1alpha3.PlannedRefusal{{Reason: "Conflict", Message: "no"}}
	plan.Status.Unknown = []string{"what nobody knows"}
	const want = `Giving team-b the parent globex would orphan 1 namespace, add 3 objects, overwrite 1 object and remove 1 object.

team-b
  + Role/a (from globex)
  ! ConfigMap/b (from globex)
      -data: 1
      +data: 2
  - Role/c (from acme)
  User jane gains ClusterRole/view
  ServiceAccount ci/robot loses Role/deploy
  ResourceQuota small allows 1 of count/configmaps, and there would be 3

leaf (orphaned)

It would exceed hierarchical quotas:
  NAMESPACE   QUOTA    RESOURCE       USED   MOVED   LIMIT
  globex      budget   pods           3      2       4
  globex      budget   requests.cpu   500m   1       1

It would exceed 2 limits of hierarchical quotas that are left out: you may not get them, or there are too many

Left out, because you may not list these in team-b: secrets, roles.rbac.authorization.k8s.io

Not known: what nobody knows

It would be refused (Conflict): no
`
	if got := Text("team-b", plan, true); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestNothingHappens(t *testing.T) {
	plan := answer()
	plan.Spec.Change = v1alpha3.ChangeDelete
	if got := Text("leaf", plan, false); got != "Deleting leaf would write no object.\n" {
		t.Errorf("got %q", got)
	}
	plan.Status.Refusals = []v1alpha3.PlannedRefusal{{Reason: "Forbidden", Message: "no"}}
	if got := Text("leaf", plan, false); got != "Deleting leaf would be refused.\n\nIt would be refused (Forbidden): no\n" {
		t.Errorf("got %q", got)
	}
}

func TestNamespaceOnTwoPagesIsShownOnce(t *testing.T) {
	part := func(namespace string, names ...string) v1alpha3.NamespacePlan {
		n := v1alpha3.NamespacePlan{Name: namespace}
		for _, name := range names {
			n.Objects = append(n.Objects, v1alpha3.PlannedObject{Name: name})
			n.Access = append(n.Access, v1alpha3.PlannedAccess{Name: name})
		}
		return n
	}
	all := answer(part("a", "1"), part("b", "2"))
	next := answer(part("b", "3"), part("c", "4"))
	all.Status.Unknown, next.Status.Unknown = []string{"x"}, []string{"x", "access in c"}
	Append(all, next)
	Append(all, answer())
	if !slices.Equal(all.Status.Unknown, next.Status.Unknown) {
		t.Errorf("unknown is %q", all.Status.Unknown)
	}
	namespaces := all.Status.Namespaces
	if len(namespaces) != 3 || len(namespaces[1].Objects) != 2 || namespaces[1].Objects[1].Name != "3" ||
		len(namespaces[1].Access) != 2 || namespaces[1].Access[1].Name != "3" || namespaces[2].Name != "c" {
		t.Errorf("got %+v", namespaces)
	}
}

func TestForeignTextIsEscaped(t *testing.T) {
	plan := answer(v1alpha3.NamespacePlan{
		Name:    "a",
		Objects: []v1alpha3.PlannedObject{{Action: v1alpha3.ActionAdd, Kind: "Role", Name: "x\n  - forged\u202e", Source: "b", Difference: "+a: \x1b[2J\n+b: 1"}},
		Access:  []v1alpha3.PlannedAccess{{Change: v1alpha3.AccessGained, Kind: "User", Name: "jane\x9b31m", RoleKind: "Role", Role: "r\nr"}},
	})
	plan.Spec = v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: "b"}
	plan.Status.Summary = v1alpha3.PlanSummary{Added: 1}
	plan.Status.Refusals = []v1alpha3.PlannedRefusal{{Reason: "Conflict", Message: "no\nyes"}}
	const want = `Giving a the parent b would add 1 object.

a
  + Role/x\n  - forged\u202e (from b)
      +a: \x1b[2J
      +b: 1
  User jane\x9b31m gains Role/r\nr

It would be refused (Conflict): no\nyes
`
	if got := Text("a", plan, true); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
