// Package restore tests that nothing is deleted because of a restore: of etcd snapshots of the hierarchies or of the
// cluster, of manifests, of a part of a tree, and of a whole cluster whose namespaces have other UIDs. Each test begins
// with fresh, so that none depends on another.
package restore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const binDir = "../../../_output/bin"

// Names of processes; the data of an etcd are in a folder with the name, or with the suffix -data.
const (
	etcd                  = "etcd"
	kubeAPIServer         = "kube-apiserver"
	kubeControllerManager = "kube-controller-manager"
)

var (
	propagator = controlplane.Server{Name: "hns-propagator", Args: []string{"--leader-elect=false"}}
	// apiServer embeds its etcd.
	apiServer = controlplane.Server{Name: "hns-apiserver", Args: []string{suite.PatientCreates}}
)

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// root is of the group system:masters.
	root suite.User
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	if err := controlplane.RequireBinaries(binDir, "kubectl-hns"); err != nil {
		return err
	}
	cp = started
	var err error
	if root, err = suite.NewUser("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	installation, err = suite.Install(ctx, cp, suite.Artifacts, apiServer, propagator)
	return err
}

// stop ends processes.
func stop(t *testing.T, processes ...string) {
	t.Helper()
	for _, process := range processes {
		if err := cp.StopProcess(t.Context(), process); err != nil {
			t.Fatal(err)
		}
	}
}

// eventuallyEnded waits until a process ends by itself.
func eventuallyEnded(t *testing.T, process string) {
	t.Helper()
	suite.EventuallyEqual(t, process+" runs", "false", func() string { return fmt.Sprint(cp.Running(process)) })
}

// startOurs starts our servers; the propagator is ready when it leads or is paused.
func startOurs(t *testing.T) {
	t.Helper()
	for _, server := range []controlplane.Server{apiServer, propagator} {
		if err := suite.Start(t.Context(), cp, installation, server); err != nil {
			t.Fatal(err)
		}
	}
}

// startKubernetes starts what does not run of it.
func startKubernetes(t *testing.T) {
	t.Helper()
	started, err := controlplane.Start(t.Context(), suite.Config(cp.Dir(), binDir))
	if err != nil {
		t.Fatal(err)
	}
	cp = started
}

// stopAll ends all processes.
func stopAll(t *testing.T) {
	t.Helper()
	stop(t, propagator.Name, apiServer.Name, kubeControllerManager, kubeAPIServer, etcd)
}

// data are the folders of both stores.
func data() (ours, kubernetes string) {
	return filepath.Join(cp.Dir(), apiServer.Name), filepath.Join(cp.Dir(), etcd+"-data")
}

// backup copies the data of a stopped etcd.
func backup(t *testing.T, folder string) (saved string) {
	t.Helper()
	saved = t.TempDir()
	if err := os.CopyFS(saved, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return saved
}

// restore replaces the data of a stopped etcd.
func restore(t *testing.T, folder, saved string) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, os.DirFS(saved)); err != nil {
		t.Fatal(err)
	}
}

// fresh has a test begin with an empty store and none of the namespaces of other tests. As in a new cluster, no store is
// recorded.
func fresh(t *testing.T) {
	t.Helper()
	stop(t, propagator.Name, apiServer.Name)
	ours, _ := data()
	restore(t, ours, t.TempDir())
	start(t, apiServer)
	deleteNamespaces(t)
	forgetStore(t)
	start(t, propagator)
}

// deleteNamespaces deletes the namespaces of tests, as the propagator, whom no policy keeps from it.
func deleteNamespaces(t *testing.T) {
	t.Helper()
	config := cp.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: hnc.PropagatorUser, Groups: []string{"system:masters"}}
	client := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces()
	remaining := func() (names []string) {
		list, err := client.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, ns := range list.Items {
			if ns.Name != "default" && ns.Name != hnc.SystemNamespace && !strings.HasPrefix(ns.Name, "kube-") {
				names = append(names, ns.Name)
			}
		}
		return names
	}
	for _, name := range remaining() {
		_, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err == nil {
			err = client.Delete(t.Context(), name, metav1.DeleteOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	suite.EventuallyEqual(t, "namespaces", "[]", func() string { return fmt.Sprint(remaining()) })
}

// forgetStore has the cluster record no store.
func forgetStore(t *testing.T) {
	t.Helper()
	if err := suite.ForgetStore(t.Context(), root); err != nil {
		t.Fatal(err)
	}
}

// newCluster ends all processes, and starts Kubernetes with empty data and what we install in it.
func newCluster(t *testing.T) {
	t.Helper()
	stop(t, propagator.Name, apiServer.Name)
	if err := cp.KillAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, kubernetes := data()
	restore(t, kubernetes, t.TempDir())
	startKubernetes(t)
	var err error
	if installation, err = cp.Install(t.Context(), suite.Artifacts...); err != nil {
		t.Fatal(err)
	}
}

// run runs a command with the permissions of root, and returns its output and exit code.
func run(t *testing.T, stdin, name string, args ...string) (string, int) {
	t.Helper()
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+cp.Kubeconfig(), "KUBECACHEDIR="+filepath.Join(cp.Dir(), "kubectl-cache"), "KUBERC=off")
	command.Stdin = strings.NewReader(stdin)
	out, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// uids returns the UIDs of namespaces and of the RoleBindings in them.
func uids(t *testing.T, names ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range names {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(ns.UID)
		bindings, err := root.RbacV1().RoleBindings(name).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range bindings.Items {
			found[name+"/"+b.Name] = string(b.UID)
		}
	}
	return found
}

// lost returns what of before is not in after, or has another UID there.
func lost(before, after map[string]string) []string {
	var missing []string
	for name, uid := range before {
		if after[name] != uid {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

// unwritten expects that nothing was written to the cluster since its footprint was taken. Call it in a pause.
func unwritten(t *testing.T, before map[string]string) {
	t.Helper()
	if written := suite.Written(before, suite.Footprint(t, root)); len(written) > 0 {
		t.Errorf("written before an administrator agreed:\n%s", strings.Join(written, "\n"))
	}
}

// paused returns the reason of the pause, "" if there is none.
func paused(t *testing.T) string {
	t.Helper()
	c, err := root.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	for _, condition := range c.Status.Conditions {
		if condition.Type == hnc.ConditionPropagationPaused && condition.Status == metav1.ConditionTrue {
			return condition.Reason
		}
	}
	return ""
}

// eventuallyPaused waits for a pause.
func eventuallyPaused(t *testing.T, reason string) {
	t.Helper()
	suite.EventuallyEqual(t, "the reason of the pause", reason, func() string { return paused(t) })
}

// resume ends a pause, and waits for the end.
func resume(t *testing.T, trust string) {
	t.Helper()
	if out, code := run(t, "", "kubectl-hns", "resume", "--yes", "--trust="+trust); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	suite.EventuallyEqual(t, "the reason of the pause", "", func() string { return paused(t) })
}

// checkpoint returns the recorded checkpoint, or says why both sides have none in common.
func checkpoint(t *testing.T) string {
	t.Helper()
	c, err := root.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), hnc.SystemNamespace, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	if c.Status.Checkpoint == nil || ns.Annotations[hnc.AnnotationCheckpoint] != c.Status.Checkpoint.ID {
		return fmt.Sprintf("%v in the store, %q in the cluster", c.Status.Checkpoint, ns.Annotations[hnc.AnnotationCheckpoint])
	}
	return c.Status.Checkpoint.ID
}
