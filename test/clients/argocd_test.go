package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// argoCD is what Argo CD's cache of a view contains, by group/kind/namespace/name.
type argoCD struct {
	lock      sync.Mutex
	synced    bool
	resources map[string]resource
}

// resource is a line that the program in argocd prints.
type resource struct {
	Key, UID, Version string
	Gone              bool
}

// startArgoCD runs Argo CD's cache of a tenant's view until the end of the test.
func startArgoCD(t *testing.T, tn *tenant) *argoCD {
	t.Helper()
	must(t, "make clients builds it", controlplane.RequireBinaries("../../_output/clients", "argocd"))
	config := tn.view.Config
	file := clientcmdapi.NewConfig()
	file.Clusters["view"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos["view"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts["view"] = &clientcmdapi.Context{Cluster: "view", AuthInfo: "view"}
	file.CurrentContext = "view"
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, "kubeconfig", clientcmd.WriteToFile(*file, kubeconfig))

	command := exec.CommandContext(t.Context(), "../../_output/clients/argocd", kubeconfig)
	command.Stderr = os.Stderr
	// It ends when its input does.
	input, err := command.StdinPipe()
	must(t, "input", err)
	output, err := command.StdoutPipe()
	must(t, "output", err)
	must(t, "start", command.Start())
	a, ended := &argoCD{resources: map[string]resource{}}, make(chan struct{})
	go func() {
		defer close(ended)
		for lines := json.NewDecoder(output); ; {
			var r resource
			if lines.Decode(&r) != nil {
				return
			}
			a.lock.Lock()
			if r.Key == "" {
				a.synced = true
			} else {
				a.resources[r.Key] = r
			}
			a.lock.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = input.Close()
		<-ended
		_ = command.Wait()
	})
	suite.EventuallyEqual(t, "the cache of "+tn.root+" is synchronized", "true", func() string {
		a.lock.Lock()
		defer a.lock.Unlock()
		return fmt.Sprint(a.synced)
	})
	return a
}

// lacks returns what a cache does not contain, or contains otherwise, of objects that a tenant has.
func (a *argoCD) lacks(t *testing.T, f *flux, objects []*unstructured.Unstructured) string {
	t.Helper()
	a.lock.Lock()
	defer a.lock.Unlock()
	var lacking []string
	for _, object := range objects {
		version := object.GetLabels()["app.kubernetes.io/version"]
		must(t, "get", f.Client().Get(t.Context(), client.ObjectKeyFromObject(object), object))
		gvk := object.GroupVersionKind()
		key := strings.Join([]string{gvk.Group, gvk.Kind, object.GetNamespace(), object.GetName()}, "/")
		if got, want := a.resources[key], (resource{key, string(object.GetUID()), version, false}); got != want {
			lacking = append(lacking, fmt.Sprintf("%+v, want %+v", got, want))
		}
	}
	return strings.Join(lacking, "\n")
}

// Argo CD's cache of a view contains the objects of its tenant, by their names in the view, and nothing of another
// tenant's.
func TestArgoCDCachesAView(t *testing.T) {
	both := []*flux{newFlux(t, newTenant(t, "argo-a")), newFlux(t, newTenant(t, "argo-b"))}
	var caches []*argoCD
	for _, f := range both {
		f.apply(t, "v1")
	}
	for _, f := range both {
		a := startArgoCD(t, f.tenant)
		if lacking := a.lacks(t, f, f.build(t, "v1")); lacking != "" {
			t.Errorf("the cache of %s lacks\n%s", f.tenant.root, lacking)
		}
		caches = append(caches, a)
	}
	const old = "/ConfigMap/shop/old"
	both[0].upgrade(t)
	suite.EventuallyEqual(t, "what the cache lacks of the upgrade", "", func() string { return caches[0].lacks(t, both[0], both[0].build(t, "v2")) })
	suite.EventuallyEqual(t, "what is pruned is gone", "true", func() string {
		caches[0].lock.Lock()
		defer caches[0].lock.Unlock()
		return fmt.Sprint(caches[0].resources[old].Gone)
	})
	// The upgrade of the other tenant comes last: when the cache has it, it would have had the first one's before.
	both[1].upgrade(t)
	suite.EventuallyEqual(t, "what the cache lacks of the other's upgrade", "", func() string { return caches[1].lacks(t, both[1], both[1].build(t, "v2")) })
	for _, a := range caches {
		a.lock.Lock()
		defer a.lock.Unlock()
	}
	for i, a := range caches {
		foreign := map[string]bool{}
		for _, r := range caches[1-i].resources {
			foreign[r.UID] = true
		}
		for key, r := range a.resources {
			if foreign[r.UID] || strings.Contains(key, both[1-i].tenant.root) || strings.Contains(key, "/"+both[i].tenant.root) {
				t.Errorf("the cache of %s contains %+v", both[i].tenant.root, r)
			}
		}
	}
}
