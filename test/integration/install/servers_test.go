package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// install installs the chart, and runs its servers, because there is no kubelet.
func install(t *testing.T, values ...string) {
	t.Helper()
	if _, err := command(t, "helm", append([]string{"install", "hns", chart, "--namespace=hns-system", "--create-namespace"}, values...)...); err != nil {
		t.Fatal(err)
	}
	serve(t)
}

// serve runs the servers that are installed, with the arguments of their Deployments, as a kubelet does.
func serve(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	installation, err := cp.Install(ctx)
	if err != nil {
		t.Fatal(err)
	}
	route(t, installation.APIServerPort)
	propagator := make(chan error, 1)
	propagatorArgs := serverArgs(t, "hns-propagator", nil)
	go func() {
		_, err := cp.StartServer(context.WithoutCancel(ctx), installation, controlplane.Server{Name: "hns-propagator", Args: propagatorArgs})
		propagator <- err
	}()
	volume := filepath.Join(cp.Dir(), "tls")
	suite.Eventually(t, "the certificate is issued", func() error {
		secret, err := admin.CoreV1().Secrets(controlplane.Namespace).Get(ctx, "hns-apiserver-cert", metav1.GetOptions{})
		if err != nil {
			return err
		}
		errs := []error{os.MkdirAll(volume, 0o700)}
		for name, data := range secret.Data {
			errs = append(errs, os.WriteFile(filepath.Join(volume, name), data, 0o600))
		}
		return errors.Join(errs...)
	})
	access, err := cp.Etcd()
	if err != nil {
		t.Fatal(err)
	}
	args := serverArgs(t, "hns-apiserver", strings.NewReplacer("/etc/hns/tls", volume, "/var/lib/hns", filepath.Join(cp.Dir(), "data"),
		"/etc/hns/etcd/ca.crt", access.CAFile, "/etc/hns/etcd/tls.crt", access.Client.CertFile, "/etc/hns/etcd/tls.key", access.Client.KeyFile))
	args = append(args, "--tls-sni-cert-key="+installation.Serving.CertFile+","+installation.Serving.KeyFile+":127.0.0.1")
	server := controlplane.Server{Name: "hns-apiserver", Args: args}
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--etcd-servers=") }) {
		server.Etcd = &access
	}
	if _, err := cp.StartServer(ctx, installation, server); err != nil {
		t.Fatal(err)
	}
	if err := <-propagator; err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the API is served", func() error {
		_, err := admin.HNC.HncV1beta1().Hierarchies("default").List(ctx, metav1.ListOptions{})
		return err
	})
}

// route makes the Service lead to a port of this machine.
func route(t *testing.T, port int) {
	t.Helper()
	patch := `{"spec":{"type":"ExternalName","externalName":"localhost","selector":null,"ports":null,"clusterIP":null,"clusterIPs":null}}`
	if _, err := admin.CoreV1().Services(controlplane.Namespace).Patch(t.Context(), "hns-apiserver", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	resource := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	for _, name := range []string{"v1beta1.hnc.x-k8s.io", "v1alpha3.hnc.x-k8s.io", "v1alpha2.hnc.x-k8s.io", "v1alpha2.resources.hnc.x-k8s.io"} {
		patch := fmt.Sprintf(`{"spec":{"service":{"port":%d}}}`, port)
		if _, err := admin.Dynamic.Resource(resource).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// serverArgs returns the arguments of a Deployment's container, except the port, with other paths.
func serverArgs(t *testing.T, name string, paths *strings.Replacer) []string {
	t.Helper()
	deployment, err := admin.AppsV1().Deployments(controlplane.Namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, arg := range deployment.Spec.Template.Spec.Containers[0].Args {
		if strings.HasPrefix(arg, "--secure-port=") {
			continue
		}
		if paths != nil {
			arg = paths.Replace(arg)
		}
		args = append(args, arg)
	}
	return args
}

func stopServers(t *testing.T) {
	t.Helper()
	for _, name := range []string{"hns-propagator", "hns-apiserver"} {
		if err := cp.StopProcess(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}
