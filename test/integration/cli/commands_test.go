package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestTreeOfWhatIsBeingDeleted(t *testing.T) {
	namespace(t, "going-org", "")
	namespace(t, "going", "going-org")
	namespace(t, "staying", "going-org")
	removed(t, "staying")
	removed(t, "going-org")
	// The namespace stays in its tree as long as its hierarchy is there.
	finalizers := func(list string) {
		_, err := hierarchies.HncV1beta1().Hierarchies("going").Patch(context.WithoutCancel(t.Context()), hnc.Singleton, types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":`+list+`}}`), metav1.PatchOptions{})
		if err != nil {
			t.Error(err)
		}
	}
	finalizers(`["example.com/held"]`)
	t.Cleanup(func() { finalizers("null") })
	if err := kube.CoreV1().Namespaces().Delete(t.Context(), "going", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s := newScript(t, root)
	s.until("going (deleting)", "tree", "going-org")
	s.run("tree", "going-org", "-o", "name")
	s.run("tree", "going-org", "-o", "mermaid")
}

func TestTree(t *testing.T) {
	namespace(t, "org", "")
	subnamespace(t, "org-a", "org")
	subnamespace(t, "org-a-1", "org-a")
	orphan(t, "org-lost", "org-gone")
	namespace(t, "org-lost-child", "org-lost")
	removed(t, "org-lost-child")
	waitForCondition(t, "org-lost-child", "AncestorHaltActivities")
	bind(t, "org", "view")
	s := newScript(t, root)
	s.run("tree", "org")
	s.run("tree", "org", "org-lost")
	s.run("tree", "org-a-1")
	s.until("org-a-1  alice-view (from org)", "tree", "org", "--objects", "rolebindings")
	s.run("tree", "org", "-o", "name")
	s.run("tree", "org-a", "-o", "yaml")
	s.run("tree", "org-a", "-o", "json")
	s.run("tree", "org-lost", "-o", "mermaid")
	s.run("tree", "org", "-o", "dot", "--objects", "rolebindings")
	s.as("alice, who may view org and what is below it", alice)
	s.run("tree", "org")
	s.run("tree", "org", "--objects", "rolebindings")

	all := root.hns(t, "tree", "-A").stdout
	for _, part := range []string{"\norg\n└── [s] org-a\n    └── [s] org-a-1\n", "\norg-lost (", "\nkube-system\n"} {
		if !strings.Contains(all, part) {
			t.Errorf("tree -A does not say %q:\n%s", part, all)
		}
	}
	eventually(t, func() error {
		r := alice.hns(t, "tree", "-A")
		if !strings.Contains(r.stdout, "\norg\n└── [s] org-a\n") && !strings.HasPrefix(r.stdout, "org\n└── [s] org-a\n") || strings.Contains(r.stdout, "kube-system") {
			return fmt.Errorf("alice should see org, and not all: %s%s", r.stdout, r.stderr)
		}
		return nil
	})
}

func TestDescribe(t *testing.T) {
	namespace(t, "dept", "")
	subnamespace(t, "dept-sub", "dept")
	namespace(t, "dept-full", "dept")
	orphan(t, "dept-lost", "dept-gone")
	s := newScript(t, root)
	s.until("- dept-full\n", "describe", "dept")
	s.run("describe", "dept-sub")
	s.run("describe", "dept-lost")
	s.run("describe", "dept-sub", "-o", "name")
}

func TestEventsAreDescribed(t *testing.T) {
	namespace(t, "said", "")
	namespace(t, "said-below", "said")
	configure(t, v1beta1.ResourceSpec{Resource: "configmaps", OnConflict: v1beta1.Keep})
	t.Cleanup(func() { configure(t) })
	configMap(t, "said-below", "settings")
	configMap(t, "said", "settings")
	s := newScript(t, root)
	s.until("ObjectKept", "describe", "said-below")
}

func TestCreateAndDelete(t *testing.T) {
	namespace(t, "shop", "")
	s := newScript(t, root)
	s.run("create", "shop-a", "-n", "shop", "--dry-run=client")
	s.run("create", "shop-a", "-n", "shop", "--dry-run=server")
	s.run("create", "shop-a", "-n", "shop", "--wait")
	s.run("create", "shop-a", "-n", "shop")
	s.run("create", "shop-a-1", "-n", "shop-a")
	s.until("- shop-a-1 (subnamespace)", "describe", "shop-a")
	s.run("delete", "shop-a", "-n", "shop")
	s.run("delete", "shop-a", "-n", "shop", "-a", "--dry-run=client")
	s.run("delete", "shop-a", "-n", "shop", "-a", "--wait")
	s.run("delete", "shop-a", "-n", "shop")
}

func TestNamespaceOfTheContext(t *testing.T) {
	namespace(t, "here", "")
	s := newScript(t, inNamespace(t, root, "here"))
	s.run("create", "here-a")
	s.run("delete", "here-a")
	s.run("quota")
}

func TestSet(t *testing.T) {
	namespace(t, "set-a", "")
	namespace(t, "set-b", "")
	namespace(t, "set-c", "")
	s := newScript(t, root)
	s.run("set", "set-c", "--parent", "set-a")
	s.run("set", "set-c", "--parent", "set-a")
	s.run("set", "set-c", "-p", "set-b", "-a")
	s.run("set", "set-c", "--allowCascadingDeletion")
	s.run("set", "set-c", "-f")
	s.run("set", "set-c", "-f")
	s.run("set", "set-c", "--root", "--dry-run=client")
	s.run("set", "set-c", "--root", "--dry-run=server")
	s.run("set", "set-c", "--root", "--wait")
	s.run("set", "set-c", "--root=false")
	s.run("set", "set-c", "--parent", "set-c")
	s.run("set", "set-c")
}

func TestMove(t *testing.T) {
	namespace(t, "move-a", "")
	namespace(t, "move-b", "")
	namespace(t, "move-x", "move-a")
	subnamespace(t, "move-x-1", "move-x")
	s := newScript(t, root)
	s.run("move", "move-x", "move-b", "--dry-run=server")
	s.run("move", "move-x", "move-b", "--wait")
	s.run("tree", "move-a", "move-b")
	s.run("move", "move-b", "move-x-1")
	s.run("move", "move-x-1", "move-a")
	s.run("move", "move-x", "--root", "--wait")
	s.run("tree", "move-x")
}

func TestAdoptAFile(t *testing.T) {
	for _, name := range []string{"apply-a", "apply-b", "apply-c", "apply-d"} {
		namespace(t, name, "")
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tree := file("tree.yaml", "apply-a\n  apply-b\n    apply-c\n  apply-d\n")
	s := newScript(t, root)
	s.run("adopt", "-f", tree, "--dry-run=client")
	s.run("adopt", "-f", tree, "--dry-run=server")
	s.run("adopt", "--yes", "-f", tree)
	s.run("adopt", "--yes", "-f", tree)
	s.run("tree", "apply-a")
	s.run("adopt", "-f", tree, "--dry-run=client", "-o", "yaml")
	s.say("a branch that changes its place")
	s.run("adopt", "--yes", "-f", file("moved.yaml", "apply-d:\n  apply-c:\n"))
	s.run("adopt", "--yes", "-f", file("back.yaml", "apply-b:\n  apply-c:\n"))
	s.say("errors")
	s.say("two branches are not swapped at once")
	s.run("adopt", "--yes", "-f", file("swapped.yaml", "apply-a:\n  apply-c:\n    apply-b:\n"))
	s.run("tree", "apply-a")
	s.run("adopt", "--yes", "-f", file("cycle.yaml", "apply-c\n  apply-b\n"))
	s.run("adopt", "--yes", "-f", file("missing.yaml", "apply-a\n  apply-missing\n  apply-d\n"))
	s.run("adopt", "--yes", "-f", file("tab.yaml", "apply-a\n\tapply-d\n"))
	s.run("adopt", "--yes", "-f", filepath.Join(dir, "absent.yaml"))
	s.run("adopt")
	s.run("adopt", "apply-a")
	s.run("adopt", "-f", "-")
	s.run("adopt", "-f", tree, "-o", "yaml")
	text := s.text.String()
	s.text.Reset()
	s.text.WriteString(strings.ReplaceAll(text, dir, "DIR"))
}

func TestConfig(t *testing.T) {
	t.Cleanup(func() { configure(t) })
	waitUntilNothingIsHalted(t)
	// Until Kubernetes has aggregated the ClusterRoles of the manifests, the propagator lacks permissions.
	eventually(t, func() error {
		review, err := kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: hnc.PropagatorUser, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "delete", Group: "networking.k8s.io", Resource: "networkpolicies"},
		}}, metav1.CreateOptions{})
		if err == nil && !review.Status.Allowed {
			err = errors.New("hns-propagator may not delete networkpolicies")
		}
		return err
	})
	s := newScript(t, root)
	s.run("config", "set-resource", "networkpolicies", "--group", "networking.k8s.io", "--mode", "ignore")
	s.run("config", "set-resource", "networkpolicies", "--group", "networking.k8s.io", "--mode", "propagate")
	s.run("config", "set-resource", "networkpolicies", "--group", "networking.k8s.io", "--mode", "propagate", "--force")
	s.run("config", "set-resource", "secrets", "--mode", "allowpropagate", "--dry-run=server")
	s.run("config", "set-resource", "secrets", "--mode", "allowpropagate")
	s.until("* AllowPropagate: secrets", "config", "describe")
	s.run("config", "describe", "-o", "name")
	s.run("config", "set-resource", "nothings")
	s.run("config", "set-resource", "secrets", "--mode", "sometimes")
	s.run("config", "delete-type", "--resource", "secrets", "--dry-run=client")
	s.run("config", "delete-type", "--resource", "secrets")
	s.run("config", "delete-type", "--group", "networking.k8s.io", "--resource", "networkpolicies")
	s.run("config", "delete-type", "--resource", "secrets")
	s.run("config", "delete-type")
}

func TestConfigSet(t *testing.T) {
	before, err := hierarchies.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		eventually(t, func() error {
			config, err := hierarchies.HncV1beta1().HNCConfigurations().Get(context.WithoutCancel(t.Context()), hnc.ConfigurationName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			config.Spec = before.Spec
			_, err = hierarchies.HncV1beta1().HNCConfigurations().Update(context.WithoutCancel(t.Context()), config, metav1.UpdateOptions{})
			return err
		})
		configure(t)
	})
	s := newScript(t, root)
	s.run("config", "set", "secrets", "allowpropagate", "--dry-run=server")
	s.run("config", "set", "secrets", "allowpropagate")
	s.run("config", "set", "secrets", "AllowPropagate")
	s.run("config", "set", "networkpolicies.networking.k8s.io", "Ignore")
	s.run("config", "set", "networkpolicies.networking.k8s.io", "Propagate")
	s.run("config", "set", "networkpolicies.networking.k8s.io", "Propagate", "--force")
	s.run("config", "set", "creatorRole", "admin")
	s.run("config", "set", "subnamespaceNames.prefix", "Parent")
	s.run("config", "set", "rules.managedNamespaceLabels", "team,env")
	s.run("config", "set", "rules.skippedObjects", "[{matchLabels: {team: none}}]")
	s.run("config", "get")
	s.run("config", "get", "secrets")
	s.run("config", "get", "rules.managedNamespaceLabels")
	s.run("config", "get", "rules")
	s.run("config", "get", "configmaps")
	s.run("config", "unset", "rules.skippedObjects")
	s.run("config", "unset", "rules.managedNamespaceLabels", "--dry-run=client")
	s.run("config", "unset", "rules")
	s.run("config", "unset", "rules")
	s.run("config", "unset", "networkpolicies.networking.k8s.io")
	s.run("config", "get")
	s.run("config", "set", "secrets", "sometimes")
	s.run("config", "set", "subnamespaceNames.prefix", "Sometimes")
	s.run("config", "set", "rules.noSuchRule", "x")
	s.run("config", "set", "rules.stripTrackingMetadata", "perhaps")
	s.run("config", "set", "rules.droppedLabels", "{a: b}")
	s.run("config", "set", "secrets")
	s.run("config", "get", "Secrets")
	s.as("bob, who may read no configuration", bob)
	s.run("config", "get")
	s.run("config", "set", "creatorRole", "view")
}

func TestVersion(t *testing.T) {
	s := newScript(t, root)
	s.run("version")
	s.run("version", "--client")
	s.run("--version")
}
