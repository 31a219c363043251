package migration

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	versioninfo "k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
)

// What the servers need of a cluster is checked first, and an error names what is missing.
func TestCheckCluster(t *testing.T) {
	authentication := func(data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "extension-apiserver-authentication"}, Data: data}
	}
	complete := authentication(map[string]string{"requestheader-client-ca-file": "a"})
	for name, test := range map[string]struct {
		resources []string
		objects   []runtime.Object
		want      string
	}{
		"complete":           {[]string{"validatingadmissionpolicies", "mutatingadmissionpolicies"}, []runtime.Object{complete}, ""},
		"below 1.30":         {[]string{"validatingwebhookconfigurations"}, []runtime.Object{complete}, "the cluster, of version v1.29.3, does not serve validatingadmissionpolicies"},
		"below 1.36":         {[]string{"validatingadmissionpolicies"}, []runtime.Object{complete}, "does not serve mutatingadmissionpolicies in admissionregistration.k8s.io/v1; upgrade it"},
		"no request headers": {[]string{"validatingadmissionpolicies", "mutatingadmissionpolicies"}, []runtime.Object{authentication(nil)}, "has no requestheader-client-ca-file"},
		"no ConfigMap":       {[]string{"validatingadmissionpolicies", "mutatingadmissionpolicies"}, nil, "has no requestheader-client-ca-file"},
	} {
		kube := fake.NewClientset(test.objects...)
		list := &metav1.APIResourceList{GroupVersion: "admissionregistration.k8s.io/v1"}
		for _, resource := range test.resources {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: resource})
		}
		discovery := kube.Discovery().(*fakediscovery.FakeDiscovery)
		discovery.Resources = []*metav1.APIResourceList{list}
		discovery.FakedServerVersion = &versioninfo.Info{GitVersion: "v1.29.3"}
		err := (&clients{kube: kube}).checkCluster(t.Context())
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		for _, action := range kube.Actions() {
			if verb := action.GetVerb(); verb != "get" {
				t.Errorf("%s: it has written: %v", name, action)
			}
		}
	}
}

func TestClockOfTheServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	}))
	t.Cleanup(server.Close)
	m := &Migration{clients: &clients{config: &rest.Config{Host: server.URL}}}
	if err := m.checkClock(t.Context()); err == nil || !strings.Contains(err.Error(), "differ by ") || !strings.Contains(err.Error(), "synchronize them") {
		t.Errorf("got %v", err)
	}
}
