package plan

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// words returns the main content of a plan, one item a line.
func words(status v1alpha3.HierarchyPlanStatus) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, r := range status.Refusals {
		add("refused: %s", r.Reason)
	}
	for _, n := range status.Namespaces {
		if n.Fate != "" {
			add("%s %s", n.Name, n.Fate)
		}
		for _, o := range n.Objects {
			add("%s %s %s/%s<%s", n.Name, o.Action, o.Resource, o.Name, o.Source)
		}
		for _, a := range n.Access {
			add("%s %s %s %s", n.Name, a.Change, a.Name, a.Role)
		}
		for _, q := range n.Quotas {
			add("%s %s %s %d of %d", n.Name, q.Name, q.Resource, q.Planned, q.Hard)
		}
	}
	for _, h := range status.Hidden {
		add("hidden: %s", h.Resource)
	}
	return strings.Join(lines, "\n")
}

func lines(list ...string) string { return strings.Join(list, "\n") }

func configMap(t *testing.T, namespace, name, value string) {
	t.Helper()
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
	suite.Must(t, "configmap "+name, func() error {
		_, err := alice.CoreV1().ConfigMaps(namespace).Create(t.Context(), c, metav1.CreateOptions{})
		return err
	})
}

func secret(t *testing.T, namespace, name string, data map[string]string) {
	t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: data}
	suite.Must(t, "secret "+name, func() error {
		_, err := alice.CoreV1().Secrets(namespace).Create(t.Context(), s, metav1.CreateOptions{})
		return err
	})
}

func parent(name string) v1alpha3.HierarchyPlanSpec {
	return v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: name}
}

var deletion = v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeDelete}

func eventuallyPlanned(t *testing.T, u user, name string, spec v1alpha3.HierarchyPlanSpec, want ...string) {
	t.Helper()
	suite.EventuallyEqual(t, "plan of "+name, lines(want...), func() string {
		status, err := ask(t, u, name, spec, 0)
		if err != nil {
			return err.Error()
		}
		return words(status)
	})
}

func TestAPlanShowsOnlyWhatItsReaderMayList(t *testing.T) {
	configure(t, "configmaps Propagate Keep", "secrets Propagate")
	for name, above := range map[string]string{"hidden-root": "", "hidden-new": "hidden-root", "hidden-moved": ""} {
		if above == "" {
			namespace(t, name, above)
		}
	}
	namespace(t, "hidden-new", "hidden-root")
	configMap(t, "hidden-root", "settings", "root")
	secret(t, "hidden-root", "password", map[string]string{"value": "root"})
	configMap(t, "hidden-new", "more", "new")
	namespace(t, "hidden-below", "hidden-moved")
	// Bob may move the namespace to the new parent, and list ConfigMaps in both: in the new parent he sees those from
	// further up.
	hierarchies := rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"hierarchies", "hierarchies/plan"}, Verbs: []string{"*"}}
	readers := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}
	bob, err := person(t.Context(), "bob", "hidden-moved", hierarchies, readers)
	if err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "bob may plan", "true", func() string {
		_, err := ask(t, bob, "hidden-moved", parent("hidden-new"), 0)
		return fmt.Sprint(err == nil)
	})
	eventuallyPlanned(t, bob, "hidden-moved", parent("hidden-new"), "refused: Forbidden")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader", Namespace: "hidden-new"}, Rules: []rbacv1.PolicyRule{hierarchies, readers}}
	if _, err := admin.RbacV1().Roles("hidden-new").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b := binding("hidden-new", "reader", "", "")
	b.RoleRef.Kind, b.RoleRef.Name = "Role", "reader"
	b.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: "bob"}}
	if _, err := admin.RbacV1().RoleBindings("hidden-new").Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Nothing is said of what he may not list, nor of the namespace below, which has its own copies of bob's role but
	// not of his right to know it.
	eventuallyPlanned(t, bob, "hidden-moved", parent("hidden-new"),
		"hidden-moved Add configmaps/more<hidden-new", "hidden-moved Add configmaps/settings<hidden-root",
		"hidden: roles", "hidden: rolebindings", "hidden: secrets")
	status, err := ask(t, bob, "hidden-moved", parent("hidden-new"), 0)
	if err != nil || status.Summary != (v1alpha3.PlanSummary{Namespaces: 1, Added: 2}) {
		t.Errorf("the summary counts what bob may not know: %+v, %v", status.Summary, err)
	}
	of := func(name string) []string {
		return []string{name + " Add roles/reader<hidden-new", name + " Add rolebindings/reader<hidden-new",
			name + " Add configmaps/more<hidden-new", name + " Add configmaps/settings<hidden-root",
			name + " Add secrets/password<hidden-root", name + " Gained bob reader"}
	}
	eventuallyPlanned(t, alice, "hidden-moved", parent("hidden-new"), append(of("hidden-moved"), of("hidden-below")...)...)
	// Who may not plan there learns nothing.
	if _, err := ask(t, bob, "hidden-root", deletion, 0); !apierrors.IsForbidden(err) {
		t.Errorf("a plan where bob has no permission: %v", err)
	}
}

func TestAPlanOfRules(t *testing.T) {
	configure(t, "configmaps Propagate")
	namespace(t, "rules-root", "")
	namespace(t, "rules-leaf", "rules-root")
	configMap(t, "rules-root", "plain", "x")
	stays := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stays", Labels: map[string]string{"team": "none"}}}
	if _, err := alice.CoreV1().ConfigMaps("rules-root").Create(t.Context(), stays, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	of := func(rules v1beta1.Rules) v1alpha3.HierarchyPlanSpec {
		return v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeRules, Rules: &rules}
	}
	eventuallyPlanned(t, alice, "rules-root", of(v1beta1.Rules{}))
	eventuallyPlanned(t, alice, "rules-root", of(v1beta1.Rules{SkippedObjects: []metav1.LabelSelector{{MatchLabels: map[string]string{"team": "none"}}}}), "rules-leaf Remove configmaps/stays<rules-root")
	eventuallyPlanned(t, alice, "rules-root", of(v1beta1.Rules{ExcludedNamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "rules-leaf"}}}),
		"rules-leaf Remove configmaps/plain<rules-root", "rules-leaf Remove configmaps/stays<rules-root")
	config, err := person(t.Context(), "configurator", "",
		rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"hierarchies/plan", "hncconfigurations"}, Verbs: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	eventuallyPlanned(t, config, "rules-root", v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeConfiguration, Resources: resources("configmaps Propagate")},
		"hidden: roles", "hidden: rolebindings", "hidden: configmaps")
	eventuallyPlanned(t, config, "rules-root", of(v1beta1.Rules{SkippedObjects: []metav1.LabelSelector{{MatchLabels: map[string]string{"team": "none"}}}}), "refused: Forbidden")
	// Patterns are not even read before the authorization.
	eventuallyPlanned(t, config, "rules-root", of(v1beta1.Rules{IncludedNamespaceRegex: "("}), "refused: Forbidden")
}

func TestADifferenceDoesNotShowSecrets(t *testing.T) {
	configure(t, "secrets AllowPropagate", "configmaps AllowPropagate")
	namespace(t, "diff-root", "")
	namespace(t, "diff-leaf", "diff-root")
	secret(t, "diff-root", "password", map[string]string{"same": "xyzzy", "other": "plugh", "new": "plover"})
	secret(t, "diff-leaf", "password", map[string]string{"same": "xyzzy", "other": "frotz", "old": "gnusto"})
	configMap(t, "diff-root", "settings", "above")
	configMap(t, "diff-leaf", "settings", "local")
	spec := v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeConfiguration, Resources: resources("secrets Propagate", "configmaps Propagate")}
	status, err := ask(t, alice, "diff-root", spec, 0)
	if err != nil {
		t.Fatal(err)
	}
	// A kind that was allowed to be propagated before may overwrite.
	if got, want := words(status), lines("diff-leaf Overwrite secrets/password<diff-root", "diff-leaf Overwrite configmaps/settings<diff-root"); got != want {
		t.Fatalf("planned\n%s\nwant\n%s", got, want)
	}
	text := status.Namespaces[0].Objects[0].Difference
	for _, hidden := range []string{"xyzzy", "plugh", "plover", "frotz", "gnusto", "eHl6enk", "cGx1Z2g", "cGxvdmVy", "ZnJvdHo", "Z251c3Rv"} {
		if strings.Contains(text, hidden) {
			t.Errorf("the difference shows %q:\n%s", hidden, text)
		}
	}
	for _, line := range []string{"   same: (hidden)", "-  other: (hidden)", "+  other: (hidden, another)", "-  old: (hidden)", "+  new: (hidden)"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	text = status.Namespaces[0].Objects[1].Difference
	for _, line := range []string{"-  value: local", "+  value: above", "+    hnc.x-k8s.io/inherited-from: diff-root"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestAPlanReportsExceededQuotas(t *testing.T) {
	configure(t, "configmaps Propagate")
	namespace(t, "quota-root", "")
	namespace(t, "quota-leaf", "")
	for _, name := range []string{"a", "b"} {
		configMap(t, "quota-root", name, "1")
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few", Namespace: "quota-leaf"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": resource.MustParse("2"), "configmaps": resource.MustParse("3")}}}
	if _, err := admin.CoreV1().ResourceQuotas("quota-leaf").Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// There is kube-root-ca.crt already.
	eventuallyPlanned(t, alice, "quota-leaf", parent("quota-root"), "quota-leaf Add configmaps/a<quota-root", "quota-leaf Add configmaps/b<quota-root",
		"quota-leaf few count/configmaps 3 of 2")
}
