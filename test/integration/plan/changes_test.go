package plan

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestAPlanOfADeletionListsDeletedAndOrphanedNamespaces(t *testing.T) {
	namespace(t, "del-root", "")
	subnamespace(t, "del-sub", "del-root")
	subnamespace(t, "del-subsub", "del-sub")
	namespace(t, "del-full", "del-sub")
	namespace(t, "del-below", "del-full")
	eventuallyPlanned(t, alice, "del-root", deletion, "refused: Forbidden", "del-root Deleted", "del-sub Orphaned")
	eventuallyPlanned(t, alice, "del-sub", deletion, "refused: Forbidden", "del-sub Deleted", "del-full Orphaned", "del-subsub Orphaned")
	eventuallyPlanned(t, alice, "del-subsub", deletion, "del-subsub Deleted")
	if err := apply(t, alice, "del-root", `{"allowCascadingDeletion":true}`); err != nil {
		t.Fatal(err)
	}
	want := []string{"del-root Deleted", "del-sub Deleted", "del-full Orphaned", "del-subsub Deleted"}
	eventuallyPlanned(t, alice, "del-root", deletion, want...)
	// A dry run of the deletion of the Subnamespace sees the same.
	alice.warnings.take()
	err := alice.HNC.HncV1beta1().Subnamespaces("del-root").Delete(t.Context(), "del-sub", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	expectWarnings(t, "dry run: in 3 namespaces: 2 deleted, 1 orphaned; objects: 0 added, 0 changed, 0 overwritten, 0 removed, 0 kept",
		`namespace "del-sub": deleted`, `namespace "del-full": orphaned`, `namespace "del-subsub": deleted`)
	suite.Must(t, "deletion", func() error {
		return alice.CoreV1().Namespaces().Delete(t.Context(), "del-root", metav1.DeleteOptions{})
	})
	suite.EventuallyEqual(t, "what exists", "del-below del-full", func() string {
		list, err := admin.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		var there []string
		for _, ns := range list.Items {
			if strings.HasPrefix(ns.Name, "del-") {
				there = append(there, ns.Name)
			}
		}
		return strings.Join(there, " ")
	})
}

// expectWarnings compares the warnings that alice has got, apart from their order.
func expectWarnings(t *testing.T, want ...string) {
	t.Helper()
	got := alice.warnings.take()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("warnings\n%s\nwant\n%s", lines(got...), lines(want...))
	}
}

func TestADryRunWarnsOfASummary(t *testing.T) {
	configure(t, "configmaps Propagate")
	namespace(t, "summary-root", "")
	namespace(t, "summary-leaf", "")
	configMap(t, "summary-root", "settings", "above")
	if _, err := alice.RbacV1().RoleBindings("summary-root").Create(t.Context(), binding("summary-root", "viewers", "view", "ann"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyPlanned(t, alice, "summary-leaf", parent("summary-root"), "summary-leaf Add rolebindings/viewers<summary-root",
		"summary-leaf Add configmaps/settings<summary-root", "summary-leaf Gained ann view")
	alice.warnings.take()
	if err := move(t, alice, "summary-leaf", "summary-root", metav1.DryRunAll); err != nil {
		t.Fatal(err)
	}
	expectWarnings(t, "dry run: in 1 namespaces: 0 deleted, 0 orphaned; objects: 2 added, 0 changed, 0 overwritten, 0 removed, 0 kept",
		`namespace "summary-leaf": User "ann": gained ClusterRole "view"`, `namespace "summary-leaf": add rolebindings "viewers" from "summary-root"`,
		`namespace "summary-leaf": add configmaps "settings" from "summary-root"`)
	if err := move(t, alice, "summary-leaf", "summary-root"); err != nil {
		t.Fatal(err)
	}
	if got := alice.warnings.take(); len(got) > 0 {
		t.Errorf("the real request warns of %q", got)
	}
	eventuallyPlanned(t, alice, "summary-leaf", parent("summary-root"))
	eventuallyPlanned(t, alice, "summary-leaf", parent(""), "summary-leaf Remove rolebindings/viewers<summary-root", "summary-leaf Remove configmaps/settings<summary-root",
		"summary-leaf Lost ann view")
	alice.warnings.take()
	if err := alice.HNC.HncV1beta1().Hierarchies("summary-leaf").Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	expectWarnings(t, "dry run: in 1 namespaces: 0 deleted, 0 orphaned; objects: 0 added, 0 changed, 0 overwritten, 2 removed, 0 kept",
		`namespace "summary-leaf": User "ann": lost ClusterRole "view"`, `namespace "summary-leaf": remove rolebindings "viewers" from "summary-root"`,
		`namespace "summary-leaf": remove configmaps "settings" from "summary-root"`)
}

func TestAPlanListsAllRefusals(t *testing.T) {
	configure(t, "configmaps Propagate")
	namespace(t, "no-root", "")
	namespace(t, "no-leaf", "no-root")
	namespace(t, "no-other", "")
	configMap(t, "no-other", "settings", "local")
	configMap(t, "no-root", "settings", "above")
	eventuallyPlanned(t, alice, "no-root", parent("no-leaf"), "refused: Invalid")
	eventuallyPlanned(t, alice, "no-root", parent("no-where")) // who may create namespaces may name one that is still to come
	eventuallyPlanned(t, alice, "no-other", parent("no-leaf"), "refused: Conflict", "no-other Overwrite configmaps/settings<no-root")
	carl, err := person(t.Context(), "carl", "no-other",
		rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"hierarchies/plan"}, Verbs: []string{"create"}})
	if err != nil {
		t.Fatal(err)
	}
	// Something would be overwritten, but that is for others to know.
	eventuallyPlanned(t, carl, "no-other", parent("no-leaf"), "refused: Forbidden")
	eventuallyPlanned(t, carl, "no-other", deletion, "refused: Forbidden")
	eventuallyPlanned(t, carl, "no-other", v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangePropagation, Resources: resources("secrets Propagate")},
		"refused: Forbidden", "refused: Forbidden")
	eventuallyPlanned(t, carl, "no-other", v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeConfiguration}, "refused: Forbidden")
}

func TestAPlanOfWhatAHierarchySays(t *testing.T) {
	configure(t)
	namespace(t, "say-root", "")
	namespace(t, "say-mid", "say-root")
	namespace(t, "say-leaf", "say-mid")
	for _, name := range []string{"say-root", "say-mid", "say-leaf"} {
		configMap(t, name, "all", name)
		configMap(t, name, "of-"+name, name)
	}
	say := func(entries ...string) v1alpha3.HierarchyPlanSpec {
		return v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangePropagation, Resources: resources(entries...)}
	}
	eventuallyPlanned(t, alice, "say-mid", say("configmaps Propagate"), "refused: Conflict",
		"say-leaf Overwrite configmaps/all<say-mid", "say-leaf Add configmaps/of-say-mid<say-mid")
	eventuallyPlanned(t, alice, "say-mid", say("configmaps Propagate Keep"),
		"say-leaf Keep configmaps/all<say-mid", "say-leaf Add configmaps/of-say-mid<say-mid")
	if err := apply(t, alice, "say-mid", `{"parent":"say-root","propagation":[{"group":"","resource":"configmaps","onConflict":"Keep"}]}`); err != nil {
		t.Fatal(err)
	}
	eventuallyPlanned(t, alice, "say-mid", say("configmaps Propagate Keep"), "say-leaf Keep configmaps/all<say-mid")
	eventuallyPlanned(t, alice, "say-mid", say("configmaps Remove"), "say-leaf Remove configmaps/of-say-mid<say-mid")
	// Where nothing is said any more, what exists stays as it is.
	eventuallyPlanned(t, alice, "say-mid", say())
	// Who leaves takes along what it says; what the root says stays with it.
	eventuallyPlanned(t, alice, "say-root", say("configmaps AllowPropagate"), "say-leaf Keep configmaps/all<say-mid")
}

func TestBadQuestionsAreRefusedWithWhatToDo(t *testing.T) {
	namespace(t, "bad-plan", "")
	for _, row := range []struct {
		spec v1alpha3.HierarchyPlanSpec
		says string
	}{
		{v1alpha3.HierarchyPlanSpec{}, "spec.change: Required value"},
		{v1alpha3.HierarchyPlanSpec{Change: "Everything"}, `"Parent", "Delete", "Propagation"`},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeDelete, Parent: "x"}, "spec.parent: Forbidden"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeDelete, Resources: resources("secrets")}, "spec.resources: Forbidden"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeDelete, Rules: &v1beta1.Rules{}}, "spec.rules: Forbidden"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeRules, Rules: &v1beta1.Rules{IncludedNamespaceRegex: "("}}, "spec.rules.includedNamespaceRegex: Invalid value"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Limit: 6000}, "spec.limit: Invalid value"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Limit: -1}, "spec.limit: Invalid value"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangePropagation, Resources: make([]v1beta1.ResourceSpec, 101)}, "spec.resources: Too many: 101: must have at most 100 items"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangePropagation, Resources: resources(strings.Repeat("x", 254))}, "spec.resources[0].resource: Too long"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangePropagation, Resources: resources("secrets", "secrets")}, "spec.resources[1]: Duplicate value"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeConfiguration, Resources: resources("secrets Propagate", "nothings Propagate")}, "spec.resources[1]: Invalid value"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: strings.Repeat("x", 64)}, "spec.parent: Too long"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: "../x"}, "spec.parent: Invalid value"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Continue: strings.Repeat("x", 1025)}, "spec.continue: Too long"},
		{v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Continue: "there"}, "start from the beginning"},
	} {
		_, err := alice.HNC.HncV1beta1().Hierarchies("bad-plan").Plan(t.Context(), hnc.Singleton, &v1alpha3.HierarchyPlan{Spec: row.spec}, metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%+v: %v, want %s", row.spec, err, row.says)
		}
	}
	plans := alice.HNC.HncV1beta1()
	huge := &v1alpha3.HierarchyPlan{Spec: parent(strings.Repeat("x", 200<<10))}
	if _, err := plans.Hierarchies("bad-plan").Plan(t.Context(), hnc.Singleton, huge, metav1.CreateOptions{}); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("a body of 200 KiB: %v", err)
	}
	if _, err := plans.Hierarchies("bad-plan").Plan(t.Context(), "other", &v1alpha3.HierarchyPlan{Spec: parent("")}, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("another name: %v", err)
	}
	if _, err := plans.Hierarchies("no-such-namespace").Plan(t.Context(), hnc.Singleton, &v1alpha3.HierarchyPlan{Spec: parent("")}, metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("no namespace: %v", err)
	}
}
