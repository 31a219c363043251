package migrate

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares output with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if suite.Size(0, 1) == 1 {
		return // They are those of the small forest.
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the plugin prints (-want, +got):\n%s", file, diff)
	}
}

// must runs the plugin without an error.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := plugin(t, "", args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// identities returns what the migration must not change: namespaces with the labels and annotations of trees, and
// copies and sources as they are stored.
func identities(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	namespaces, err := admin.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range namespaces.Items {
		tree := map[string]string{}
		for key, value := range ns.Labels {
			if strings.HasSuffix(key, hnc.LabelTreeSuffix) || strings.HasPrefix(key, "example.com/") {
				tree[key] = value
			}
		}
		found[ns.Name] = fmt.Sprint(ns.UID, tree, ns.Annotations[hnc.AnnotationSubnamespaceOf])
	}
	configMaps, err := admin.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{LabelSelector: "team=platform"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range configMaps.Items {
		found["configmaps "+o.Namespace+"/"+o.Name] = fmt.Sprint(o.UID, o.ResourceVersion)
	}
	bindings, err := admin.RbacV1().RoleBindings("").List(t.Context(), metav1.ListOptions{LabelSelector: "team=platform"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range bindings.Items {
		found["rolebindings "+o.Namespace+"/"+o.Name] = fmt.Sprint(o.UID, o.ResourceVersion)
	}
	return found
}

func startPropagator(t *testing.T) {
	t.Helper()
	go func() {
		// It is not ready before the migration is completed.
		_, _ = cp.StartServer(context.WithoutCancel(t.Context()), installation, controlplane.Server{Name: "hns-propagator"})
	}()
}

// steps are those of the migration, and rollbackSteps those of its rollback.
var (
	steps         = []string{"freeze", "webhooks", "stop", "export", "import", "finalizers", "switch", "verify", "preview", "definitions", "unfreeze"}
	rollbackSteps = []string{"freeze", "switch", "import", "start", "webhooks", "unfreeze"}
)

// changed is a namespace whose HierarchyConfiguration is changed when the import was interrupted.
const changed = "team-003"

// A cluster of HNC is migrated, rolled back and migrated again, by processes that are killed in their steps, while
// clients use it.
func TestMigration(t *testing.T) {
	members := forest(suite.Size(24, 300))
	buildForest(t, members)
	pretend(t)
	runPods(t)
	startPropagator(t)
	servesReadsOnly(t)
	testBadInput(t)
	golden(t, "dry-run", must(t, "migrate", "--dry-run", "--export=hnc-export.yaml"))
	golden(t, "rollback-of-none", must(t, "migrate", "rollback", "--yes"))
	needsImpersonation(t)
	if group, err := admin.Discovery().ServerGroups(); err != nil || !slices.ContainsFunc(group.Groups, func(g metav1.APIGroup) bool {
		return g.Name == hnc.GroupName && g.PreferredVersion.Version == "v1alpha2"
	}) {
		t.Errorf("HNC's version is not the preferred one beside HNC: %v, %v", group, err)
	}
	doctor(t, "not begun: HNC serves this cluster")
	violate(t)
	ownedByRelease(t)
	installWebhooks(t)
	golden(t, "dry-run", must(t, "migrate", "--dry-run", "--export=hnc-export.yaml")) // HNC's webhooks are called.
	if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: ownRole}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := identities(t)
	stopReading := readAsOldClients(t, len(members)-2)

	// Up to the point of no return, and back.
	file := filepath.Join(t.TempDir(), "export.yaml")
	every := suite.Size(3, 1)
	for i := range slices.Index(steps, "definitions") {
		if i%every == 0 {
			interrupt(t, steps[i], "migrate", "--yes", "--export", file)
		}
		if steps[i] == "stop" {
			heldAfterTheCheck(t, file)
		}
		if steps[i] == "export" {
			doctor(t, "the last completed step is stop")
			rejectsOthers(t)
			protectsCopies(t)
			startedAgain(t, file)
		}
	}
	if out, err := plugin(t, "", "migrate", "--export", file); err == nil || !strings.Contains(err.Error(), "not confirmed") {
		t.Errorf("the answer no to the preview: %v\n%s", err, out)
	} else {
		previews(t, out)
	}
	belongsToRelease(t, true)
	if _, err := admin.RbacV1().ClusterRoles().Get(t.Context(), grantedRole, metav1.GetOptions{}); err != nil {
		t.Errorf("the permissions that the preview needs: %v", err)
	}
	if _, err := plugin(t, "", "migrate", "rollback"); err == nil || !strings.Contains(err.Error(), "not confirmed") {
		t.Errorf("a rollback without confirmation: %v", err)
	}
	// As if hns-propagator had started too early.
	if _, err := admin.CoreV1().Namespaces().Patch(t.Context(), members[0].name, types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":["`+hnc.FinalizerSubnamespaces+`"]}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	outByHand(t)
	for i, step := range rollbackSteps {
		if i%every == 1%every && i < len(rollbackSteps)-1 {
			interrupt(t, step, "migrate", "rollback", "--yes")
			doctor(t, "a rollback has begun")
			if _, err := plugin(t, "", "migrate", "--yes", "--export", file); err == nil || !strings.Contains(err.Error(), "a rollback has begun") {
				t.Errorf("the migration goes on after a rollback that was killed in step %s: %v", step, err)
			}
		}
	}
	if out, err := plugin(t, "", "migrate", "rollback", "--yes"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	} else {
		golden(t, "rollback", out)
	}
	rolledBack(t)
	compare(t, before, "the rollback")

	// All the way.
	file = filepath.Join(t.TempDir(), "export.yaml")
	for i := range len(steps) - 1 {
		if i%every == 1%every {
			interrupt(t, steps[i], "migrate", "--yes", "--export", file)
		}
		if steps[i] == "import" {
			// As if hns-apiserver had rejected it.
			if _, err := admin.Dynamic.Resource(hierarchies).Namespace(changed).Patch(t.Context(), "hierarchy", types.MergePatchType,
				[]byte(`{"spec":{"allowCascadingDeletion":true}}`), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out, err := plugin(t, "", "migrate", "--yes", "--export", file); err != nil || !strings.Contains(out, "admission policies are not installed yet: ") {
		t.Fatalf("without policies: %s%v", out, err)
	}
	if _, err := plugin(t, "", "migrate", "rollback", "--yes"); err == nil || !strings.Contains(err.Error(), "name the export of the migration by --export") {
		t.Errorf("a rollback when the definitions are deleted: %v", err)
	}
	installPolicies(t)
	interrupt(t, "unfreeze", "migrate", "--yes", "--export", file)
	out, err := plugin(t, "", "migrate", "--yes", "--export", file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	golden(t, "completed", out)
	if _, err := plugin(t, "", "migrate", "--yes", "--export", file); err == nil || !strings.Contains(err.Error(), "there is nothing to migrate") {
		t.Errorf("a migration that is completed already: %v", err)
	}
	stopReading()
	migrated(t, members)
	prefersHNC(t)
	corrected(t)
	grants(t)
	excepted(t, members)
	compare(t, before, "the migration")
	copied := identities(t)
	delete(copied, "alone") // It is moved, and HNC would move it back.
	goBack(t, file, every)
	compare(t, copied, "the way back")
	file = filepath.Join(t.TempDir(), "export.yaml")
	keptObject := conflict(t)
	if out, err := plugin(t, "", "migrate", "--yes", "--export", file); err == nil || !strings.Contains(err.Error(), wouldOverwrite) {
		t.Errorf("objects would be overwritten: %v\n%s", err, out)
	}
	must(t, "migrate", "--yes", "--export", file, "--strip-tracking-metadata=false", "--skip-rejected")
	installPolicies(t)
	must(t, "migrate", "--yes", "--export", file)
	if c, err := admin.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{}); err != nil || c.Spec.Rules == nil || ptr.Deref(c.Spec.Rules.StripTrackingMetadata, true) {
		t.Errorf("the metadata of tools is not kept: %v, %v", c, err)
	}
	compare(t, copied, "the second migration")
	keeps(t, keptObject)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the export: %v, %v", info, err)
	}
}

// doctor checks what kubectl hns doctor says of the migration, and that it advises nothing that would stop HNC.
func doctor(t *testing.T, want string) {
	t.Helper()
	out, err := plugin(t, "", "doctor")
	if err == nil || !strings.Contains(out, want) || strings.Contains(out, "artifacts/policies") || strings.Contains(out, "APIService again") {
		t.Errorf("doctor: %v\n%s\nwant %q", err, out, want)
	}
}

// interrupt runs a command and kills it in a step.
func interrupt(t *testing.T, step string, args ...string) {
	t.Helper()
	if out, err := plugin(t, step, args...); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("%v was not killed in step %s: %v\n%s", args, step, err, out)
	}
}

func compare(t *testing.T, before map[string]string, what string) {
	t.Helper()
	after := identities(t)
	for key, was := range before {
		// The namespace below the one that breaks the cycle has its label, like those below an orphan. What users have
		// written is corrected.
		if after[key] != was && key != "cycle-b" && key != pretender {
			t.Errorf("%s has changed %s: was %s, is %s", what, key, was, after[key])
		}
	}
}
