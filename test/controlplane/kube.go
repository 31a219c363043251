package controlplane

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names of the processes and of their binaries.
const (
	etcd                  = "etcd"
	kubeAPIServer         = "kube-apiserver"
	kubeControllerManager = "kube-controller-manager"
	kubectl               = "kubectl"
)

const frontProxy = "front-proxy-client"

// withoutNodes are the controllers unless others are given: those that nothing needs as long as no node joins the
// cluster are left out. Each would make its own ServiceAccount and token, and watch.
var withoutNodes = []string{
	"*",
	"-certificatesigningrequest-approving-controller", "-certificatesigningrequest-cleaner-controller",
	"-certificatesigningrequest-signing-controller", "-device-taint-eviction-controller", "-ephemeral-volume-controller",
	"-horizontal-pod-autoscaler-controller", "-kube-apiserver-serving-clustertrustbundle-publisher-controller",
	"-legacy-serviceaccount-token-cleaner-controller", "-node-ipam-controller", "-node-lifecycle-controller",
	"-persistentvolume-attach-detach-controller", "-persistentvolume-binder-controller", "-persistentvolume-expander-controller",
	"-pod-garbage-collector-controller", "-podcertificaterequest-cleaner-controller", "-resourceclaim-controller",
	"-resourcepoolstatusrequest-controller", "-taint-eviction-controller", "-ttl-controller",
	// It checks the expressions of all policies against the schemas of their kinds, after each start.
	"-validatingadmissionpolicy-status-controller",
}

// FrontProxy returns the client certificate with which kube-apiserver forwards requests.
func (cp *ControlPlane) FrontProxy() (KeyPair, error) {
	return cp.pki.client(cp.pki.frontProxy, frontProxy, frontProxy)
}

// NewFrontProxy creates another authority in dir, and a certificate for forwarded requests by it. It returns the files
// of both.
func NewFrontProxy(dir string) (authority string, client KeyPair, err error) {
	p, err := loadPKI(dir)
	if err != nil {
		return "", KeyPair{}, err
	}
	client, err = p.client(p.frontProxy, frontProxy, frontProxy)
	return p.frontProxy.CertFile, client, err
}

// kubeProcesses starts the processes of Kubernetes.
type kubeProcesses struct{ *ControlPlane }

// start brings up etcd, kube-apiserver and kube-controller-manager, each when the one before is ready.
func (cp kubeProcesses) start(ctx context.Context) error {
	for _, start := range []func(context.Context) error{cp.startEtcd, cp.startAPIServer, cp.startControllerManager} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (cp kubeProcesses) startEtcd(ctx context.Context) error {
	return etcdProcesses(cp).start(ctx, EtcdMember{Process: etcd}, []EtcdMember{{Process: etcd}})
}

func (cp kubeProcesses) startAPIServer(ctx context.Context) error {
	var err error
	if cp.admin, err = cp.keptUser("admin", "kubernetes-admin", "system:masters"); err != nil {
		return err
	}
	if err := writeKubeconfig(cp.admin, cp.Kubeconfig()); err != nil {
		return err
	}
	port, err := cp.ports.get(kubeAPIServer)
	if err != nil {
		return err
	}
	access, err := cp.Etcd()
	if err != nil {
		return err
	}
	serving, err := cp.pki.serving(cp.pki.cluster, kubeAPIServer, "localhost", "kubernetes.default.svc", "127.0.0.1", "10.0.0.1")
	if err != nil {
		return err
	}
	proxy, err := cp.FrontProxy()
	if err != nil {
		return err
	}
	args := append(access.Flags(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port),
		"--tls-cert-file="+serving.CertFile,
		"--tls-private-key-file="+serving.KeyFile,
		"--client-ca-file="+cp.pki.cluster.CertFile,
		"--authorization-mode=Node,RBAC",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+cp.pki.serviceAccountKey,
		"--service-account-signing-key-file="+cp.pki.serviceAccountKey,
		// Endpoints refuse loopback addresses, and nothing inside this cluster looks for them.
		"--endpoint-reconciler-type=none",
		// The aggregation layer. --enable-aggregator-routing must stay off: with it a Service of type ExternalName, our
		// way to servers outside the cluster, is refused.
		"--requestheader-client-ca-file="+cp.pki.frontProxy.CertFile,
		"--requestheader-allowed-names="+frontProxy,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-uid-headers=X-Remote-Uid",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+proxy.CertFile,
		"--proxy-client-key-file="+proxy.KeyFile,
	)
	config, err := clientTLS(cp.pki.cluster.CertFile, cp.pki.pair("admin"))
	if err != nil {
		return err
	}
	return cp.run(ctx, run{
		name: kubeAPIServer, binary: kubeAPIServer, args: append(args, cp.config.APIServerArgs...),
		ready: "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + "/readyz", tls: config,
	})
}

func (cp kubeProcesses) startControllerManager(ctx context.Context) error {
	port, err := cp.ports.get(kubeControllerManager)
	if err != nil {
		return err
	}
	serving, err := cp.pki.serving(cp.pki.cluster, kubeControllerManager+"-serving", "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	user, err := cp.keptUser(kubeControllerManager, "system:kube-controller-manager")
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(cp.config.Dir, kubeControllerManager+".kubeconfig")
	if err := writeKubeconfig(user, kubeconfig); err != nil {
		return err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + serving.CertFile,
		"--tls-private-key-file=" + serving.KeyFile,
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + cp.pki.serviceAccountKey,
		"--root-ca-file=" + cp.pki.cluster.CertFile,
		// The only one: no reason to wait for a lease that a killed predecessor still holds.
		"--leader-elect=false",
	}
	// The flag appends: a second one would not win.
	if !slices.ContainsFunc(cp.config.ControllerManagerArgs, func(arg string) bool { return strings.HasPrefix(arg, "--controllers=") }) {
		args = append(args, "--controllers="+strings.Join(withoutNodes, ","))
	}
	config, err := clientTLS(cp.pki.cluster.CertFile, cp.pki.pair("admin"))
	if err != nil {
		return err
	}
	return cp.run(ctx, run{
		name: kubeControllerManager, binary: kubeControllerManager, args: append(args, cp.config.ControllerManagerArgs...),
		ready: "https://" + loopback(port) + "/healthz", tls: config,
	})
}
