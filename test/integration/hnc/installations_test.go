package hnc

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// HNC and hns are installed in another way with each version of HNC: HNC 1.0 is a Helm release, and beside HNC 0.9 hns
// has several replicas and an external etcd, by its manifests.
func isRelease(t *testing.T) bool         { t.Helper(); return since(t, "1.0") && !since(t, "1.1") }
func isHighlyAvailable(t *testing.T) bool { t.Helper(); return !since(t, "1.0") }

// variant is the directory of HNC's manifests: that with quotas, if there is one.
func variant() string {
	for _, dir := range []string{"variants/hrq", "variants/default-cc"} {
		if _, err := os.Stat(filepath.Join(module, "config", dir)); err == nil {
			return filepath.Join(module, "config", dir)
		}
	}
	return filepath.Join(module, "config/default")
}

// installHNC applies HNC's manifests, with further flags, as kubectl apply, Helm and GitOps do, and returns when it is
// available.
func installHNC(t *testing.T, flags ...string) {
	t.Helper()
	manifests := kubectl(t, "", "kustomize", variant())
	const last = "        - --excluded-namespace=kube-node-lease\n"
	before, after, found := strings.Cut(manifests, last)
	if !found {
		t.Fatal("HNC's Deployment has other flags")
	}
	for _, f := range flags {
		before += "        - " + f + "\n"
	}
	manifests = before + last + after
	if isRelease(t) {
		run(t, "helm upgrade --install hnc "+chart(t, manifests)+" --namespace hnc-system --create-namespace --force-conflicts")
	} else {
		kubectl(t, manifests, "apply", "-f", "-")
	}
	kubectl(t, "", "rollout", "status", "-n", "hnc-system", "deployment/hnc-controller-manager", "--timeout=5m")
}

// chart writes a chart of HNC's manifests, and returns its directory.
func chart(t *testing.T, manifests string) string {
	t.Helper()
	var definitions, templates []string
	for document := range strings.SplitSeq(manifests, "\n---\n") {
		switch {
		case strings.Contains("\n"+document, "\nkind: Namespace\n"):
		case strings.Contains("\n"+document, "\nkind: CustomResourceDefinition\n"):
			definitions = append(definitions, document)
		default:
			templates = append(templates, document)
		}
	}
	dir := filepath.Join(cp.Dir(), "hnc-chart")
	for name, content := range map[string]string{
		"Chart.yaml":          "apiVersion: v2\nname: hnc\nversion: " + *release + "\n",
		"crds/hnc.yaml":       strings.Join(definitions, "\n---\n"),
		"templates/hnc.yaml":  strings.Join(templates, "\n---\n"),
		"templates/NOTES.txt": "HNC",
		"values.yaml":         "{}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// commandsOfManifests return the commands that install hns by its manifests for several replicas, beside HNC and after
// the migration, with the address of etcd that a user would write into them.
func commandsOfManifests(t *testing.T) (beside, after string) {
	t.Helper()
	ha, err := filepath.Abs("testdata/ha")
	if err != nil {
		t.Fatal(err)
	}
	apply := func(dir string) string {
		return "kubectl kustomize " + dir + " | sed s/etcd.hns-etcd.svc/10.0.0.50/ | kubectl apply -f -"
	}
	return apply(ha), apply("artifacts/ha") + " && kubectl apply -k artifacts/policies"
}

// runEtcd runs the external etcd of hns, and gives hns the certificates.
func runEtcd(t *testing.T) {
	t.Helper()
	repeat(t, "testdata/etcd.yaml")
	certificate, key, err := certutil.GenerateSelfSignedCertKey("etcd", []net.IP{net.ParseIP("10.0.0.50")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for namespace, name := range map[string]string{"hns-etcd": "etcd", hnc.SystemNamespace: "hns-etcd-client"} {
		_, err := admin.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"ca.crt": certificate, "tls.crt": certificate, "tls.key": key},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}
