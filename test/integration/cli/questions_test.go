package cli

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestWho(t *testing.T) {
	namespace(t, "corp", "")
	bind(t, "corp", "admin")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "movers"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{hnc.GroupName}, Resources: []string{"hierarchyconfigurations"}, Verbs: []string{"update"}}}}
	if _, err := kube.RbacV1().Roles("corp").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "movers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "movers"},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "jane"}, {APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "movers"}},
	}
	if _, err := kube.RbacV1().RoleBindings("corp").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	subnamespace(t, "corp-a", "corp")
	bind(t, "corp-a", "edit")
	subnamespace(t, "corp-a-1", "corp-a")
	for _, name := range []string{"alice-admin", "alice-edit", "movers"} {
		waitForRoleBinding(t, "corp-a-1", name)
	}
	s := newScript(t, root)
	s.run("who", "corp-a-1")
	s.run("who", "corp", "-o", "name")
	s.run("who", "corp-a-1", "impersonate", "serviceaccounts", "-o", "name")
	s.run("who", "corp-a-1", "delete", "nonsense")
	s.as("alice, who is admin of corp and of what is below it", alice)
	s.run("who", "corp-a-1")
	s.run("who", "corp-a-1", "-o", "yaml")
	s.run("who", "corp-a-1", "impersonate", "serviceaccounts")
}

func TestExplain(t *testing.T) {
	namespace(t, "why", "")
	subnamespace(t, "why-a", "why")
	subnamespace(t, "why-a-1", "why-a")
	subnamespace(t, "why-b", "why")
	bind(t, "why", "view")
	for _, name := range []string{"why-a", "why-a-1", "why-b"} {
		waitForRoleBinding(t, name, "alice-view")
	}
	configMap(t, "why", "unconfigured")
	s := newScript(t, root)
	s.say("a kind that is not propagated")
	s.run("why", "configmap/unconfigured", "-n", "why-a")
	s.run("why", "configmap/unconfigured", "-n", "why")

	configure(t, v1beta1.ResourceSpec{Resource: "configmaps", OnConflict: v1beta1.Keep}, v1beta1.ResourceSpec{Resource: "secrets", Mode: v1beta1.AllowPropagate})
	t.Cleanup(func() { configure(t) })
	waitForConfigMap(t, "why-b", "unconfigured")
	configMap(t, "why", "everywhere")
	configMap(t, "why", "only-b", hnc.AnnotationTreeSelect, "why-b")
	configMap(t, "why", "nowhere", hnc.AnnotationNone, "true")
	configMap(t, "why-a", "twice")
	waitForConfigMap(t, "why-a-1", "twice")
	configMap(t, "why", "twice")
	waitForConfigMap(t, "why-b", "twice")
	waitForConfigMap(t, "why-a-1", "everywhere")
	waitForConfigMap(t, "why-b", "only-b")
	s.say("a copy")
	s.run("why", "configmap/everywhere", "-n", "why-a-1")
	s.run("why", "configmap/everywhere", "-n", "why-a-1", "-o", "json")
	s.run("why", "rolebinding", "alice-view", "-n", "why-a-1")
	s.say("a source")
	s.run("why", "cm/everywhere", "-n", "why")
	s.run("why", "cm/only-b", "-n", "why")
	s.say("exceptions")
	s.run("why", "cm/only-b", "-n", "why-a")
	s.run("why", "cm/nowhere", "-n", "why-a")
	s.run("why", "cm/kube-root-ca.crt", "-n", "why-a")
	s.run("why", "secret/registry", "-n", "why-a")
	s.say("a conflict")
	s.until("ObjectKept", "why", "cm/twice", "-n", "why-a")
	s.say("an override")
	configMap(t, "why-a", "house", hnc.AnnotationOverride, "true")
	configMap(t, "why", "house", hnc.AnnotationAllowOverride, "true")
	waitForConfigMap(t, "why-b", "house")
	s.run("why", "cm/house", "-n", "why-a")
	s.say("what a hierarchy says about a kind")
	namespace(t, "why-c", "")
	namespace(t, "why-c-1", "why-c")
	propagation(t, "why-c", v1beta1.ResourceSpec{Resource: "configmaps", Mode: v1beta1.Remove})
	configMap(t, "why-c", "mine")
	s.until("not there", "why", "cm/mine", "-n", "why-c-1")
	s.say("halted, and excluded")
	orphan(t, "why-lost", "why-gone")
	namespace(t, "why-lost-child", "why-lost")
	removed(t, "why-lost-child")
	waitForCondition(t, "why-lost-child", hnc.ReasonAncestorHalted)
	configMap(t, "why-lost", "settings")
	s.run("why", "cm/settings", "-n", "why-lost-child")
	s.run("why", "cm/settings", "-n", "kube-public")
	s.say("what does not exist")
	s.run("why", "cm/never", "-n", "why-a-1")
	s.run("why", "nothings/x", "-n", "why")
	s.run("why", "namespace/why", "-n", "why")
	s.run("why", "cm/x", "-n", "why-not")
	s.as("alice, who may view why and what is below it", alice)
	s.run("why", "rolebinding/alice-view", "-n", "why-a-1")
	s.run("why", "configmap/only-b", "-n", "why-a")
}

func TestPermissionsAreMissing(t *testing.T) {
	namespace(t, "closed", "")
	subnamespace(t, "closed-a", "closed")
	bind(t, "closed-a", "admin")
	namespace(t, "closed-b", "")
	namespace(t, "closed-c", "")
	bind(t, "closed-c", "admin")
	s := newScript(t, bob)
	s.run("tree", "closed")
	s.run("tree", "-A")
	s.run("describe", "closed")
	s.run("create", "closed-x", "-n", "closed")
	s.run("delete", "closed-a", "-n", "closed")
	s.run("set", "closed", "-a")
	s.run("move", "closed-b", "closed")
	s.run("config", "describe")
	s.run("config", "set-resource", "secrets")
	s.run("who", "closed")
	s.run("why", "cm/x", "-n", "closed")
	s.as("alice, who is admin of closed-a", alice)
	s.until("Parent: closed", "describe", "closed-a")
	s.run("tree", "closed-a")
	s.run("create", "closed-a-1", "-n", "closed-a", "--wait")
	s.run("tree", "closed-a")
	s.run("move", "closed-c", "closed-b")
	s.run("move", "closed-c", "no-such")
	s.run("set", "closed-c", "--parent", "no-such")
	s.run("who", "closed-a-1")
}

func TestBadInput(t *testing.T) {
	namespace(t, "plain", "")
	s := newScript(t, root)
	for _, args := range [][]string{
		{"tree"}, {"tree", "-A", "plain"}, {"tree", "no-such"}, {"tree", "pl*"}, {"tree", "Plain"}, {"tree", "plain", "-o", "gif"},
		{"tree", "plain", "--objects", "nothings"}, {"tree", "plain", "--objects", "namespaces"},
		{"describe"}, {"describe", "no-such"}, {"describe", "plain", "plain"}, {"describe", "*"},
		{"create", "x*", "-n", "plain"}, {"create", "x", "-n", "pl*"}, {"create", "x", "-n", "no-such"},
		{"create", "x", "-n", "plain", "--wait", "--dry-run=server"}, {"create", "x", "-n", "plain", "--dry-run=maybe"},
		{"delete", "x", "-n", "plain"}, {"delete", "x", "-n", "plain", "-a"},
		{"set", "plain", "--root", "--parent", "x"}, {"set", "plain", "-a", "-f"}, {"set", "no-such", "-r"}, {"set", "plain", "-p", "x*"},
		{"move", "plain"}, {"move", "plain", "x", "--root"},
		{"get"}, {"get", "nothings"}, {"get", "pods", "-A", "-n", "plain"}, {"get", "pods", "-w", "-o", "json"},
		{"hrq", "-n", "plain"}, {"why", "cm"}, {"why", "cm/x*"},
		{"why", "cm/x", "--overwritten", "-o", "json"}, {"why", "nothings/x", "-n", "plain", "--overwritten"},
		{"detach"}, {"detach", "cm/"}, {"detach", "nothings/x", "-n", "plain"}, {"detach", "namespace/plain"}, {"detach", "cm/x", "-n", "pl*"},
		{"who", "no-such"}, {"who", "x*"},
		{"sow"}, {"tree", "--leaves"},
	} {
		s.run(args...)
	}
}

func TestCompletion(t *testing.T) {
	namespace(t, "compl-a", "")
	namespace(t, "compl-b", "")
	subnamespace(t, "compl-a-sub", "compl-a")
	s := newScript(t, root)
	s.run("__complete", "tree", "compl-")
	s.run("__complete", "tree", "compl-a", "compl-")
	s.run("__complete", "set", "compl-a", "--parent", "compl-b")
	s.run("__complete", "move", "compl-a", "compl-b")
	s.run("__complete", "create", "-n", "compl-b")
	s.run("__complete", "delete", "-n", "compl-a", "")
	s.run("__complete", "get", "netw")
	s.run("__complete", "get", "deploy")
	s.run("__complete", "config", "set-resource", "secrets", "--mode", "")
	s.run("__complete", "tree", "-o", "")
	s.run("__complete", "config", "")
	s.as("bob, who may list nothing", bob)
	s.run("__complete", "tree", "compl-")
}

func TestPlan(t *testing.T) {
	namespace(t, "plan-from", "")
	namespace(t, "plan-to", "")
	subnamespace(t, "plan-sub", "plan-from")
	namespace(t, "plan-moved", "plan-from")
	bind(t, "plan-from", "view")
	bind(t, "plan-to", "edit")
	s := newScript(t, root)
	s.until("- RoleBinding/alice-view", "plan", "plan-moved", "--parent", "plan-to")
	s.run("plan", "plan-moved", "--root", "-o", "name")
	s.run("plan", "plan-moved", "--root", "-o", "yaml")
	s.run("plan", "plan-from", "--delete")
	s.run("plan", "plan-from", "--parent", "plan-sub")
	configMap(t, "plan-from", "settings")
	s.run("plan", "plan-from", "--mode", "configmaps=propagate")
	s.run("plan", "plan-from", "--rules", `{"excludedNamespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "plan-sub"}}}`)
	s.run("plan", "plan-from", "--rules", "includedNamespaceRegex: (")
	// Whether the whole cluster can be changed depends on what else is in it.
	if r := root.hns(t, "plan", "plan-from", "--mode", "configmaps=propagate", "--cluster", "-o", "name"); r.stdout != "namespace/plan-moved\nnamespace/plan-sub\n" {
		t.Errorf("--cluster: %s%s", r.stdout, r.stderr)
	}
	s.say("nothing has been done")
	s.run("tree", "plan-from", "plan-to", "--objects", "rolebindings")
	s.say("bad input")
	s.run("plan", "plan-moved")
	s.run("plan", "plan-moved", "--root", "--delete")
	s.run("plan", "plan-moved", "--cluster", "--root")
	s.run("plan", "plan-moved", "--mode", "configmaps")
	s.run("plan", "plan-moved", "--rules", "a: [b]")
	s.as("alice, who may view plan-from", alice)
	s.run("plan", "plan-moved", "--root")
}
