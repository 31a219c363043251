package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	binDir   = "../../_output/bin"
	deadline = 2 * time.Minute
	// interval is long enough for the processes that polls start.
	interval = 500 * time.Millisecond
	// goneDeadline is for the deletion of namespaces: Kubernetes waits five seconds before it empties one, at each
	// level of a tree.
	goneDeadline = 2 * time.Minute
)

var (
	cp *controlplane.ControlPlane
	// kube and hierarchies are for setting things up; what is tested goes through kubectl.
	kube        kubernetes.Interface
	hierarchies versioned.Interface
	// root is of the group system:masters.
	root user
	// operator may do everything with namespaces, and nothing else.
	operator user
	// failed says that a spec has failed, so that the logs are worth keeping.
	failed bool
)

func TestE2E(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	// What kubectl prints can be long, and its end is what matters.
	format.MaxLength = 0
	gomega.SetDefaultEventuallyTimeout(deadline)
	gomega.SetDefaultEventuallyPollingInterval(interval)
	ginkgo.RunSpecs(t, "Hierarchies of namespaces, through kubectl")
}

// go test knows one test only; test/rows reads which specs have passed.
var _ = ginkgo.ReportAfterEach(func(spec ginkgo.SpecReport) {
	if spec.State.Is(types.SpecStatePassed) {
		fmt.Println("\nspec passed: " + spec.FullText())
	}
})

var _ = ginkgo.BeforeSuite(func(ctx context.Context) {
	gomega.Expect(controlplane.RequireBinaries(binDir, "hns-apiserver", "hns-propagator")).To(gomega.Succeed())
	dir, err := os.MkdirTemp("", "e2e")
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	ginkgo.DeferCleanup(func() {
		if failed {
			ginkgo.GinkgoWriter.Println("the logs of the servers are kept in", dir)
			return
		}
		gomega.Expect(os.RemoveAll(dir)).To(gomega.Succeed())
	})

	cp, err = controlplane.Start(ctx, controlplane.Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	ginkgo.DeferCleanup(func(ctx context.Context) { gomega.Expect(cp.KillAll(ctx)).To(gomega.Succeed()) })
	kube, err = kubernetes.NewForConfig(cp.RESTConfig())
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	hierarchies, err = versioned.NewForConfig(cp.RESTConfig())
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	root = user{name: "kubernetes-admin", kubeconfig: cp.Kubeconfig()}

	installation, err := cp.Install(ctx, "../../artifacts/dev", "../../artifacts/policies")
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	port, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-apiserver"})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Expect(cp.Register(ctx, installation, port)).To(gomega.Succeed())
	gomega.Expect(root.create(namespace(people))).To(succeed())
	operator = newUser(ctx)
	gomega.Expect(root.kubectl("create", "clusterrole", "namespace-operator", "--verb=*", "--resource=namespaces")).To(succeed())
	gomega.Expect(root.kubectl("create", "clusterrolebinding", "namespace-operator", "--clusterrole=namespace-operator",
		"--serviceaccount="+people+":"+operator.account())).To(succeed())
	waitForPolicies()
	_, err = cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-propagator"})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
})

var _ = ginkgo.JustAfterEach(func() { failed = failed || ginkgo.CurrentSpecReport().Failed() })

// waitForPolicies returns when kube-apiserver has noticed every policy: each refuses what it should. The propagator
// must not run yet, or it corrects the namespace whose deletion is tried.
func waitForPolicies() {
	const probe = "policy-probe"
	gomega.Expect(root.create(labelled(namespace(probe), "hnc.x-k8s.io/has-subnamespaces", "true"))).To(succeed())
	for _, refused := range []func() result{
		func() result { return root.kubectl("delete", "ns", probe, "--dry-run=server") },
		func() result {
			return root.kubectl("label", "ns", probe, "x.tree.hnc.x-k8s.io/depth=1", "--dry-run=server")
		},
		func() result {
			return root.create(labelled(namespace("another"), "hnc.x-k8s.io/included-namespace", "no"), "--dry-run=server")
		},
		func() result {
			return root.create(labelled(configMap(probe, "copy"), "hnc.x-k8s.io/inherited-from", people), "--dry-run=server")
		},
	} {
		gomega.Eventually(refused).Should(beRefused("Forbidden", "ValidatingAdmissionPolicy"))
	}
}

// testdata returns the path of a kustomization for kubectl apply -k.
func testdata(name string) string { return filepath.Join("testdata", name) }
