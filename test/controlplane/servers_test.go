package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// TestMain makes this binary a stand-in for our servers when it is run under one of their names, so that this package
// is tested without them.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case hnc.APIServerName, hnc.PropagatorName:
		err := http.ListenAndServeTLS(loopbackFlag("--secure-port"), flagValue("--tls-cert-file"), flagValue("--tls-private-key-file"),
			standInHandler(&atomic.Value{}))
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	default:
		code := m.Run()
		if err := stopShared(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}
}

func flagValue(name string) string {
	for _, arg := range os.Args[1:] {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
	}
	return ""
}

func loopbackFlag(name string) string { return "127.0.0.1:" + flagValue(name) }

// standInHandler serves the discovery of our groups, as hns-apiserver would, and stores the name of each caller.
func standInHandler(lastUser *atomic.Value) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	for _, version := range []string{group + "/v1alpha3", group + "/v1beta1", group + "/v1alpha2", "resources." + group + "/v1alpha2"} {
		mux.HandleFunc("/apis/"+version, func(w http.ResponseWriter, r *http.Request) {
			// kube-apiserver asks for itself, too, whether the API is available.
			if user := r.Header.Get("X-Remote-User"); user != "system:kube-aggregator" {
				lastUser.Store(user)
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(metav1.APIResourceList{
				TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
				GroupVersion: version,
				APIResources: []metav1.APIResource{{Name: "hierarchies", Kind: "Hierarchy", Namespaced: true, Verbs: metav1.Verbs{"get"}}},
			})
		})
	}
	return mux
}

// linkBinaries creates a directory with the real control plane's binaries and the stand-ins.
func linkBinaries(dir string) error {
	built, err := filepath.Abs(binDir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	errs := []error{os.Mkdir(dir, 0o700)}
	for _, name := range []string{etcd, kubeAPIServer, kubeControllerManager, kubectl} {
		errs = append(errs, os.Symlink(filepath.Join(built, name), filepath.Join(dir, name)))
	}
	for _, name := range []string{hnc.APIServerName, hnc.PropagatorName} {
		errs = append(errs, os.Symlink(self, filepath.Join(dir, name)))
	}
	return errors.Join(errs...)
}

func TestAnotherReplicaTakesOverFromAKilledOne(t *testing.T) {
	cp := shared(t)
	installation := install(t, cp)
	servers := []Server{
		{Name: hnc.APIServerName, SharedEtcd: true},
		{Name: hnc.APIServerName, Replica: 1, SharedEtcd: true},
		{Name: hnc.PropagatorName},
	}
	t.Cleanup(func() {
		for _, server := range servers {
			if err := cp.StopProcess(context.Background(), server.Process()); err != nil {
				t.Error(err)
			}
		}
	})
	ports := make([]int, len(servers))
	for i, server := range servers {
		var err error
		if ports[i], err = cp.StartServer(t.Context(), installation, server); err != nil {
			t.Fatal(err)
		}
		if !cp.Running(server.Process()) {
			t.Errorf("%s does not run", server.Process())
		}
	}
	if err := cp.Register(t.Context(), installation, ports[0]); err != nil {
		t.Fatal(err)
	}
	if err := cp.Kill(t.Context(), servers[0].Process()); err != nil {
		t.Fatal(err)
	}
	if cp.Running(servers[0].Process()) || !cp.Running(servers[1].Process()) {
		t.Error("want the first replica dead and the second alive")
	}
	if err := cp.Register(t.Context(), installation, ports[1]); err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Discovery().ServerResourcesForGroupVersion(group + "/v1beta1"); err != nil {
		t.Errorf("through the second replica: %v", err)
	}
	again, err := cp.StartServer(t.Context(), installation, servers[0])
	if err != nil {
		t.Fatal(err)
	}
	if again != ports[0] {
		t.Errorf("the first replica came back on port %d, was on %d", again, ports[0])
	}
}
