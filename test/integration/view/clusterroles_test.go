package view

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// What a chart of an operator has.
const operatorRBAC = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: operator, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: operator
  labels: {app: operator, rbac.authorization.k8s.io/aggregate-to-edit: "true"}
rules:
- {apiGroups: [""], resources: [nodes, configmaps], verbs: [get, list, watch]}
- {apiGroups: [storage.k8s.io], resources: [storageclasses], verbs: [get]}
- {nonResourceURLs: [/metrics], verbs: [get]}
- {apiGroups: [""], resources: [namespaces], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: operator}
subjects:
- {kind: ServiceAccount, name: operator, namespace: default}
`

// eachView runs a test in both kinds of views, and through hns-gateway. Root is the name of the root in the view.
func eachView(t *testing.T, name string, test func(t *testing.T, tn *tenant, root string)) {
	t.Run("real", func(t *testing.T) {
		tn := newTenant(t, name+"-real")
		test(t, tn, tn.root)
	})
	t.Run("relative", func(t *testing.T) { test(t, newTenant(t, name+"-relative").relative(t), "default") })
	t.Run("gateway", func(t *testing.T) { test(t, newUser(t, name+"-gateway"), "default") })
}

// A ClusterRole that is bound in a view grants what it says in all of its namespaces, and nowhere else.
func TestAClusterRoleOfAViewGrantsInItsNamespaces(t *testing.T) {
	eachView(t, "crole", func(t *testing.T, tn *tenant, root string) {
		child(t, tn.root+"-a", tn.root)
		manifest := strings.ReplaceAll(operatorRBAC, "namespace: default", "namespace: "+root)
		out := tn.run(t, manifest, "apply", "-f", "-")
		for _, warning := range []string{"/metrics, nodes, storageclasses", "aggregate-to-edit"} {
			if !strings.Contains(out, warning) {
				t.Errorf("no warning about %s: %s", warning, out)
			}
		}
		for _, again := range [][]string{{"apply", "-f", "-"}, {"apply", "--server-side", "--force-conflicts", "-f", "-"}, {"diff", "-f", "-"}, {"auth", "reconcile", "-f", "-"}} {
			tn.run(t, manifest, again...)
		}
		if got, want := tn.run(t, "", "get", "clusterroles,clusterrolebindings", "-o", "name"), "clusterrole.rbac.authorization.k8s.io/operator\nclusterrolebinding.rbac.authorization.k8s.io/operator\n"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := tn.run(t, "", "get", "clusterrolebindings", "-o", "wide"); !strings.Contains(got, "ClusterRole/operator") || !strings.Contains(got, root+"/operator") {
			t.Errorf("a table: %s", got)
		}
		if got := tn.run(t, "", "get", "roles,rolebindings", "-A", "-o", "name"); strings.Contains(got, "operator") {
			t.Errorf("what is cluster-scoped in the view is listed in its namespaces: %s", got)
		}
		got, err := tn.view.RbacV1().ClusterRoles().Get(t.Context(), "operator", metav1.GetOptions{})
		must(t, "get", err)
		if len(got.Rules) != 4 || !slices.Equal(got.Rules[0].Resources, []string{"nodes", "configmaps"}) || got.Namespace != "" || len(got.Annotations) != 1 {
			t.Errorf("the ClusterRole is shown as %v", got)
		}
		stored, err := admin.RbacV1().Roles(tn.root).Get(t.Context(), "view:"+tn.root+":operator", metav1.GetOptions{})
		must(t, "stored", err)
		if len(stored.Rules) != 2 || !slices.Equal(stored.Rules[0].Resources, []string{"configmaps"}) {
			t.Errorf("the Role has the rules %v", stored.Rules)
		}
		for namespace, want := range map[string]bool{tn.root: true, tn.root + "-a": true, people: false, "": false} {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               "system:serviceaccount:" + tn.root + ":operator",
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Resource: "configmaps"},
			}}
			suite.EventuallyEqual(t, "the operator may list in "+namespace, fmt.Sprint(want), func() string {
				answer, err := admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
				must(t, "review", err)
				return fmt.Sprint(answer.Status.Allowed)
			})
		}
		tn.run(t, "", "delete", "clusterrolebinding,clusterrole", "operator")
		_, err = admin.RbacV1().Roles(tn.root).Get(t.Context(), "view:"+tn.root+":operator", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("the Role is still there: %v", err)
		}
	})
}

func TestEachWriteOfAClusterRole(t *testing.T) {
	eachView(t, "cwrite", func(t *testing.T, tn *tenant, root string) {
		api := tn.view.RbacV1().ClusterRoles()
		rule := func(verbs ...string) []rbacv1.PolicyRule {
			return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps", "nodes"}, Verbs: verbs}}
		}
		events, err := api.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=reader"})
		must(t, "watch", err)
		defer events.Stop()
		created, err := api.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: rule("get")}, metav1.CreateOptions{})
		must(t, "create", err)
		patch := func(kind types.PatchType, body string) func() (*rbacv1.ClusterRole, error) {
			return func() (*rbacv1.ClusterRole, error) {
				return api.Patch(t.Context(), "reader", kind, []byte(body), metav1.PatchOptions{})
			}
		}
		const rules = `[{"apiGroups":[""],"resources":["configmaps","nodes"],"verbs":["%s"]}]`
		for _, write := range []struct {
			name, verb string
			do         func() (*rbacv1.ClusterRole, error)
		}{
			{"a merge patch", "list", patch(types.MergePatchType, `{"metadata":{"labels":null,"annotations":null},"rules":`+fmt.Sprintf(rules, "list")+`}`)},
			{"a strategic patch", "watch", patch(types.StrategicMergePatchType, `{"rules":`+fmt.Sprintf(rules, "watch")+`}`)},
			{"a JSON patch", "delete", patch(types.JSONPatchType, `[{"op":"test","path":"/metadata/name","value":"reader"},{"op":"test","path":"/rules/0/resources/1","value":"nodes"},{"op":"replace","path":"/rules/0/verbs/0","value":"delete"}]`)},
			{"an update", "patch", func() (*rbacv1.ClusterRole, error) {
				var updated *rbacv1.ClusterRole
				err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
					current, err := api.Get(t.Context(), "reader", metav1.GetOptions{})
					if err != nil {
						return err
					}
					current.Rules = rule("patch")
					updated, err = api.Update(t.Context(), current, metav1.UpdateOptions{})
					return err
				})
				return updated, err
			}},
			{"server-side apply", "update", func() (*rbacv1.ClusterRole, error) {
				return api.Apply(t.Context(), applyrbacv1.ClusterRole("reader").WithRules(applyrbacv1.PolicyRule().WithAPIGroups("").WithResources("configmaps", "nodes").WithVerbs("update")),
					metav1.ApplyOptions{FieldManager: "test", Force: true})
			}},
		} {
			answer, err := write.do()
			if err != nil || answer.Name != "reader" || answer.UID != created.UID || answer.Rules[0].Verbs[0] != write.verb || !slices.Equal(answer.Rules[0].Resources, []string{"configmaps", "nodes"}) {
				t.Errorf("%s: %v, answered %v", write.name, err, answer)
			}
			stored, err := admin.RbacV1().Roles(tn.root).Get(t.Context(), "view:"+tn.root+":reader", metav1.GetOptions{})
			must(t, "stored", err)
			if stored.Rules[0].Verbs[0] != write.verb || !slices.Equal(stored.Rules[0].Resources, []string{"configmaps"}) {
				t.Errorf("%s stores %v", write.name, stored.Rules)
			}
		}
		must(t, "delete", api.Delete(t.Context(), "reader", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &created.UID}}))
		_, err = api.Get(t.Context(), "reader", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `clusterroles.rbac.authorization.k8s.io "reader" not found`) {
			t.Errorf("after the deletion: %v", err)
		}
		var seen []watch.EventType
		for event := range events.ResultChan() {
			if role, ok := event.Object.(*rbacv1.ClusterRole); !ok || role.Name != "reader" || role.Namespace != "" {
				t.Fatalf("the watch shows %v", event)
			}
			if seen = append(seen, event.Type); event.Type == watch.Deleted {
				break
			}
		}
		if len(seen) != 7 {
			t.Errorf("events %v", seen)
		}
	})
}

// A binding in a namespace refers to the ClusterRoles of its view, at once after they are created, and to those of the
// cluster.
func TestBindingsReferToClusterRolesOfTheView(t *testing.T) {
	eachView(t, "cref", func(t *testing.T, tn *tenant, root string) {
		child(t, tn.root+"-a", tn.root)
		namespace := tn.root + "-a"
		if root == "default" {
			namespace = "a"
		}
		_, err := tn.view.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "own"},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}}, metav1.CreateOptions{})
		must(t, "role", err)
		subject := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "ann"}}
		bind := func(name, role string) error {
			_, err := tn.view.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: subject}, metav1.CreateOptions{})
			return err
		}
		must(t, "bind", bind("own", "own"))
		must(t, "bind", bind("theirs", "view"))
		if err := bind("missing", "missing"); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `"missing" not found`) {
			t.Errorf("a missing ClusterRole: %v", err)
		}
		shared := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: tn.root + "-shared"}}
		_, err = admin.RbacV1().ClusterRoles().Create(t.Context(), shared, metav1.CreateOptions{})
		must(t, "a ClusterRole of the cluster", err)
		external := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "external", Namespace: tn.root + "-a"},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: shared.Name}, Subjects: subject}
		_, err = admin.RbacV1().RoleBindings(external.Namespace).Create(t.Context(), external, metav1.CreateOptions{})
		must(t, "a binding to a ClusterRole of the cluster", err)
		for binding, want := range map[string][2]string{"own": {"ClusterRole/own", "Role/view:" + tn.root + ":own"}, "theirs": {"ClusterRole/view", "ClusterRole/view"}, "external": {"ClusterRole/" + shared.Name + ".external", "ClusterRole/" + shared.Name}} {
			shown, err := tn.view.RbacV1().RoleBindings(namespace).Get(t.Context(), binding, metav1.GetOptions{})
			must(t, "get", err)
			shown.Labels = map[string]string{"updated": "true"}
			_, err = tn.view.RbacV1().RoleBindings(namespace).Update(t.Context(), shown, metav1.UpdateOptions{})
			must(t, "what is read can be written back", err)
			stored, err := admin.RbacV1().RoleBindings(tn.root+"-a").Get(t.Context(), binding, metav1.GetOptions{})
			must(t, "stored", err)
			if got := [2]string{shown.RoleRef.Kind + "/" + shown.RoleRef.Name, stored.RoleRef.Kind + "/" + stored.RoleRef.Name}; got != want {
				t.Errorf("%s is shown and stored as %v, want %v", binding, got, want)
			}
		}
		if got := tn.run(t, "", "get", "rolebindings", "-n", namespace); !strings.Contains(got, "ClusterRole/own ") || !strings.Contains(got, "ClusterRole/"+shared.Name+".external") {
			t.Errorf("a table: %s", got)
		}
	})
}

// Through ClusterRoles of a view, nobody gets more than by Roles.
func TestClusterRolesOfAViewDoNotEscalate(t *testing.T) {
	eachView(t, "cdeny", func(t *testing.T, tn *tenant, root string) {
		roles, bindings := tn.view.RbacV1().ClusterRoles(), tn.view.RbacV1().ClusterRoleBindings()
		role := func(name string, change func(*rbacv1.ClusterRole)) error {
			r := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}}}
			if change != nil {
				change(r)
			}
			_, err := roles.Create(t.Context(), r, metav1.CreateOptions{})
			return err
		}
		bind := func(role string) error {
			_, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{GenerateName: "b-"},
				RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "eve"}}}, metav1.CreateOptions{})
			return err
		}
		everything := func(r *rbacv1.ClusterRole) {
			r.Rules = []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
		}
		for what, attempt := range map[string]struct {
			err    error
			denied func(error) bool
			says   string
		}{
			"a role with all permissions":           {role("all", everything), apierrors.IsForbidden, "attempting to grant RBAC permissions not currently held"},
			"a binding to cluster-admin":            {bind("cluster-admin"), apierrors.IsForbidden, "attempting to grant RBAC permissions not currently held"},
			"a binding to a role of the cluster":    {bind("system:node"), apierrors.IsForbidden, "attempting to grant RBAC permissions not currently held"},
			"a role with the name of the cluster's": {role("admin", nil), apierrors.IsInvalid, "means a ClusterRole of the cluster"},
			"a role with a name of Kubernetes":      {role("system:x", nil), apierrors.IsInvalid, "means a ClusterRole of the cluster"},
			"a role with an external name":          {role("x.external", nil), apierrors.IsInvalid, "means a ClusterRole of the cluster"},
			"an aggregated role":                    {role("sum", func(r *rbacv1.ClusterRole) { r.AggregationRule = &rbacv1.AggregationRule{} }), apierrors.IsInvalid, "aggregationRule"},
			"the deletion of all roles of the view": {roles.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}), apierrors.IsMethodNotSupported, ""},
			"the deletion of all roles of the root": {tn.view.RbacV1().Roles(root).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}), apierrors.IsMethodNotSupported, ""},
			"the deletion of a role of the cluster": {roles.Delete(t.Context(), "admin", metav1.DeleteOptions{}), apierrors.IsForbidden, ""},
			"a Role in place of a ClusterRole": {func() error {
				_, err := tn.view.RbacV1().Roles(root).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "view:" + tn.root + ":x"}}, metav1.CreateOptions{})
				return err
			}(), apierrors.IsInvalid, "create a ClusterRole"},
		} {
			if !attempt.denied(attempt.err) || !strings.Contains(attempt.err.Error(), attempt.says) {
				t.Errorf("%s: %v", what, attempt.err)
			}
		}
		code, body := tn.raw(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"kind":"Role","metadata":{"name":"x"}}`, "Content-Type", "application/json")
		if code != http.StatusBadRequest {
			t.Errorf("a Role as a ClusterRole: %d %s", code, body)
		}
		// The role view does not contain reading Roles.
		_, err := newReader(t, tn).RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `cannot list resource "clusterroles"`) {
			t.Errorf("a reader lists ClusterRoles: %v", err)
		}
	})
}

// What stays of an update outside of the view is shown as it is.
func TestAClusterRoleThatIsChangedOutsideOfTheView(t *testing.T) {
	tn := newTenant(t, "coutside").relative(t)
	_, err := tn.view.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "r"},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes", "configmaps"}, Verbs: []string{"get"}}}}, metav1.CreateOptions{})
	must(t, "create", err)
	stored := admin.RbacV1().Roles(tn.root)
	role, err := stored.Get(t.Context(), "view:"+tn.root+":r", metav1.GetOptions{})
	must(t, "get", err)
	role.Rules[0].Resources = []string{"secrets"}
	_, err = stored.Update(t.Context(), role, metav1.UpdateOptions{})
	must(t, "update", err)
	shown, err := tn.view.RbacV1().ClusterRoles().Get(t.Context(), "r", metav1.GetOptions{})
	must(t, "get", err)
	if !slices.Equal(shown.Rules[0].Resources, []string{"secrets"}) {
		t.Errorf("shown as %v", shown.Rules)
	}
}

// Two tenants, and a tenant within a tenant, have ClusterRoles with the same names.
func TestTenantsHaveClusterRolesWithTheSameNames(t *testing.T) {
	outer := newTenant(t, "ctwo").relative(t)
	child(t, "ctwo-team", outer.root)
	inner := *outer
	inner.root = "ctwo-team"
	suite.Eventually(t, "permissions", func() error {
		_, err := outer.direct.CoreV1().Namespaces().Get(t.Context(), inner.root, metav1.GetOptions{})
		return err
	})
	for _, tn := range []*tenant{outer, inner.relative(t), newTenant(t, "cthree").relative(t)} {
		_, err := tn.view.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "same", Labels: map[string]string{"of": tn.root}}}, metav1.CreateOptions{})
		must(t, "create", err)
		all, err := tn.view.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{})
		must(t, "list", err)
		if len(all.Items) != 1 || all.Items[0].Labels["of"] != tn.root {
			t.Errorf("%s lists %v", tn.root, all)
		}
	}
}

// newReader returns a user with the role view in a tenant's root, and a view of it.
func newReader(t *testing.T, tn *tenant) suite.User {
	t.Helper()
	name := fmt.Sprintf("reader-%d", tenants.Add(1))
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: people, Name: name}}
	_, err := admin.CoreV1().ServiceAccounts(people).Create(t.Context(), account, metav1.CreateOptions{})
	must(t, "account", err)
	bindAdminAs(t, tn.root, name, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: name}, "view")
	config, _, err := cp.ServiceAccount(t.Context(), people, name)
	must(t, "token", err)
	reader := *tn
	reader.direct, err = suite.NewUser(name, config)
	must(t, "clients", err)
	suite.Eventually(t, "permissions", func() error {
		_, err := reader.direct.CoreV1().Namespaces().Get(t.Context(), tn.root, metav1.GetOptions{})
		return err
	})
	return reader.relative(t).view
}
