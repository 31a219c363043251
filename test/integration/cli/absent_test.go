package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func startPropagator(t *testing.T) {
	t.Helper()
	if _, err := cp.StartServer(context.WithoutCancel(t.Context()), installation, controlplane.Server{Name: "hns-propagator"}); err != nil {
		t.Error(err)
	}
}

func TestServerIsAbsent(t *testing.T) {
	namespace(t, "alone", "")
	s := newScript(t, root)
	// The propagator would take a server that comes back for another one, and end in order to start afresh.
	for _, server := range []string{"hns-propagator", "hns-apiserver"} {
		if err := cp.StopProcess(context.WithoutCancel(t.Context()), server); err != nil {
			t.Fatal(err)
		}
	}
	serve := func() {
		t.Helper()
		if cp.Running("hns-apiserver") {
			port, err := cp.Port("hns-apiserver")
			if err == nil {
				err = cp.Register(context.WithoutCancel(t.Context()), installation, port)
			}
			if err != nil {
				t.Error(err)
			}
			return
		}
		if err := suite.Start(context.WithoutCancel(t.Context()), cp, installation, controlplane.Server{Name: "hns-apiserver"}); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		serve()
		startPropagator(t)
	})
	says(t, "Error from server (ServiceUnavailable)", "tree", "alone")
	s.say("hns-apiserver is down")
	s.run("tree", "alone")
	s.run("create", "alone-a", "-n", "alone")
	s.run("move", "alone", "x")

	// Only while it answers is it certain that discovery contains its other version.
	serve()
	services := objects.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	if err := services.Delete(context.WithoutCancel(t.Context()), "v1beta1.hnc.x-k8s.io", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	says(t, "serves hnc.x-k8s.io/v1alpha2 only", "tree", "alone")
	s.say("there is no APIService v1beta1")
	s.run("tree", "alone")
	s.run("create", "alone-a", "-n", "alone")
}

// says returns when the plugin's error says so: kube-apiserver learns of what becomes of an APIService a moment later.
func says(t *testing.T, what string, args ...string) {
	t.Helper()
	eventually(t, func() error {
		if r := root.hns(t, args...); !strings.Contains(r.stderr, what) {
			return fmt.Errorf("got %q, want %q", r.stderr, what)
		}
		return nil
	})
}
