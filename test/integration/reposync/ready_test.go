package reposync

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// kubectl runs kubectl as the cluster's administrator, and returns what it prints.
func kubectl(t *testing.T, manifest string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(cleanup(), suite.Deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, binDir+"/kubectl", append([]string{"--kubeconfig=" + cp.Kubeconfig(), "--cache-dir=" + t.TempDir()}, args...)...)
	cmd.Stdin = strings.NewReader(manifest)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// applied applies manifests with kubectl.
func applied(t *testing.T, manifests ...string) {
	t.Helper()
	if _, err := kubectl(t, strings.Join(manifests, "\n---\n"), "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// submitted applies manifests without waiting for their effect, as some writes do.
func submitted(t *testing.T, manifests ...string) {
	t.Helper()
	for _, m := range manifests {
		out, err := kubectl(t, m, "apply", "--server-side", "--force-conflicts", "--request-timeout=10s", "-f", "-")
		if err != nil && !strings.Contains(out, "imeout") && !strings.Contains(out, "deadline exceeded") && !strings.Contains(out, "stream error") {
			t.Fatal(err)
		}
	}
}

// manifest returns an object of the API group; an empty namespace is for kinds of the cluster.
func manifest(version, kind, namespace, name, spec string) string {
	if namespace != "" {
		namespace = ", namespace: " + namespace
	}
	return fmt.Sprintf("apiVersion: %s/%s\nkind: %s\nmetadata: {name: %s%s}\nspec: %s\n", hnc.GroupName, version, kind, name, namespace, spec)
}

// subject is an object of a kind with conditions.
type subject struct{ version, kind, namespace, name string }

func (s subject) manifest(spec string) string {
	return manifest(s.version, s.kind, s.namespace, s.name, spec)
}

// args returns the arguments by which kubectl finds the object.
func (s subject) args(args ...string) []string {
	args = append(args, strings.ToLower(s.kind)+"."+s.version+"."+hnc.GroupName+"/"+s.name)
	if s.namespace != "" {
		args = append(args, "--namespace="+s.namespace)
	}
	return args
}

// waits waits with kubectl until Ready has a value.
func (s subject) waits(t *testing.T, value string) {
	t.Helper()
	if _, err := kubectl(t, "", s.args("wait", "--for=condition=Ready="+value, "--timeout=60s")...); err != nil {
		object, _ := kubectl(t, "", s.args("get", "-o", "yaml")...)
		t.Errorf("%s: %v\n%s", s.kind, err, object)
	}
}

// state returns what kstatus makes of the object, and the condition Ready with the generation that it is about.
func (s subject) state(t *testing.T) string {
	t.Helper()
	out, err := kubectl(t, "", s.args("get", "-o", "json")...)
	if err != nil {
		return err.Error()
	}
	var o unstructured.Unstructured
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		return err.Error()
	}
	result, err := kstatus.Compute(&o)
	if err != nil {
		return err.Error()
	}
	ready := "without Ready"
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if condition := c.(map[string]any); condition["type"] == hnc.ConditionReady {
			ready = fmt.Sprintf("Ready=%v of an earlier generation", condition["status"])
			observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
			if condition["observedGeneration"] == o.GetGeneration() && observed == o.GetGeneration() {
				ready = fmt.Sprintf("Ready=%v", condition["status"])
			}
		}
	}
	return result.Status.String() + " " + ready
}

// TestReadyOfEachKind looks at objects of all kinds with conditions as kubectl wait and kstatus do: when they are
// fresh, in force, not in force, and changed without their controller having seen it.
func TestReadyOfEachKind(t *testing.T) {
	r := newRepository(t, namespace("ready-synced"))
	sync := func(url string) string {
		return fmt.Sprintf("{source: {url: %q}, serviceAccount: {namespace: %s, name: %s}, interval: 1s}", url, accounts, policy)
	}
	hierarchy := subject{"v1beta1", "Hierarchy", "ready-child", hnc.Singleton}
	sub := subject{"v1beta1", "Subnamespace", "ready-root", "ready-sub"}
	quota := subject{"v1beta1", "HierarchicalResourceQuota", "ready-root", "ready"}
	configuration := subject{"v1beta1", "HNCConfiguration", "", hnc.ConfigurationName}
	repositories := subject{"v1alpha3", "RepositorySync", "", "ready"}
	release := subject{"v1alpha3", "CopyRelease", "ready-child", "ready"}
	all := []subject{hierarchy, sub, quota, configuration, repositories, release}

	for _, name := range []string{"ready-root", "ready-child"} {
		applied(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n")
	}
	t.Cleanup(func() {
		applied(t, configuration.manifest("{resources: []}"))
		if _, err := kubectl(t, "", repositories.args("delete")...); err != nil {
			t.Error(err)
		}
	})
	// In force. The copy is released when its kind is not propagated any more.
	applied(t, hierarchy.manifest("{parent: ready-root}"), sub.manifest("{}"), quota.manifest(`{hard: {configmaps: "10"}}`),
		configuration.manifest("{resources: [{resource: limitranges, mode: Propagate}]}"), repositories.manifest(sync("file://"+r.dir)))
	for _, s := range all[:5] {
		s.waits(t, "True")
	}
	applied(t, "apiVersion: v1\nkind: LimitRange\nmetadata: {name: released, namespace: ready-root}\nspec: {limits: [{type: Pod, max: {cpu: \"1\"}}]}\n")
	suite.Eventually(t, "the copy", func() error {
		_, err := kubectl(t, "", "get", "limitrange", "released", "-n", "ready-child")
		return err
	})
	applied(t, configuration.manifest("{resources: [{resource: limitranges, mode: Ignore}]}"))
	configuration.waits(t, "True")
	applied(t, release.manifest("{resource: limitranges, name: released, source: ready-root}"))
	release.waits(t, "True")
	for _, s := range all {
		suite.EventuallyEqual(t, s.kind+" in force", "Current Ready=True", func() string { return s.state(t) })
	}

	// Not in force.
	release.name = "not-ready"
	limited := subject{"v1beta1", "HierarchicalResourceQuota", "ready-limited", "ready"}
	applied(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: ready-limited}\n",
		"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: no-more, namespace: ready-limited}\nspec: {hard: {count/resourcequotas: \"1\"}}\n")
	applied(t, hierarchy.manifest("{parent: ready-missing}"), limited.manifest(`{hard: {configmaps: "10"}}`),
		configuration.manifest("{resources: [{group: coordination.k8s.io, resource: leases, mode: Propagate}]}"), repositories.manifest(sync("file:///nowhere")),
		release.manifest("{resource: limitranges, name: missing, source: ready-root}"))
	if _, err := kubectl(t, "", "annotate", "namespace", "ready-sub", hnc.AnnotationSubnamespaceOf+"-"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []subject{hierarchy, sub, limited, configuration, repositories, release} {
		s.waits(t, "False")
		suite.EventuallyEqual(t, s.kind+" not in force", "InProgress Ready=False", func() string { return s.state(t) })
	}

	// Stale: nobody observes the changes. The registry itself finds hierarchies without settings ready.
	applied(t, hierarchy.manifest("{parent: ready-root}"), configuration.manifest("{resources: []}"), repositories.manifest(sync("file://"+r.dir)))
	for _, s := range []subject{hierarchy, configuration, repositories} {
		s.waits(t, "True")
	}
	for _, process := range []string{"hns-propagator", "hns-sync"} {
		if err := cp.StopProcess(t.Context(), process); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		for _, server := range []controlplane.Server{{Name: "hns-propagator"}, syncServer()} {
			if _, err := cp.StartServer(cleanup(), installation, server); err != nil {
				t.Error(err)
			}
		}
	}()
	submitted(t, hierarchy.manifest("{parent: ready-root, requiredChildren: [ready-required]}"), configuration.manifest("{resources: [{resource: secrets, mode: Propagate}]}"),
		repositories.manifest(sync("file:///nowhere")), quota.manifest(`{hard: {configmaps: "11"}}`))
	for _, s := range []subject{hierarchy, configuration, repositories, quota} {
		suite.EventuallyEqual(t, "stale "+s.kind, "InProgress Ready=True of an earlier generation", func() string { return s.state(t) })
		if _, err := kubectl(t, "", s.args("wait", "--for=condition=Ready", "--timeout=1s")...); err == nil {
			t.Errorf("%s: a stale condition counts", s.kind)
		}
	}

	// Fresh: nobody has observed the objects.
	fresh := []subject{
		{"v1beta1", "Hierarchy", "ready-limited", hnc.Singleton}, {"v1beta1", "Subnamespace", "ready-limited", "ready-fresh"},
		{"v1beta1", "HierarchicalResourceQuota", "ready-child", "fresh"}, {"v1alpha3", "RepositorySync", "", "fresh"}, {"v1alpha3", "CopyRelease", "ready-child", "fresh"},
	}
	specs := []string{"{requiredChildren: [ready-required-2]}", "{}", `{hard: {configmaps: "10"}}`, sync("file:///nowhere"), "{resource: limitranges, name: missing, source: ready-root}"}
	for i, s := range fresh {
		submitted(t, s.manifest(specs[i]))
		suite.EventuallyEqual(t, "fresh "+s.kind, "InProgress without Ready", func() string { return s.state(t) })
	}
	if _, err := kubectl(t, "", fresh[3].args("delete")...); err != nil {
		t.Error(err)
	}
}
