package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
)

// kube-apiserver stores a time whose year in UTC has five digits, in an event or in managed fields, and sends it in JSON
// as nobody can decode it.
func TestATimeOfATenantDoesNotBreakLists(t *testing.T) {
	last := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	events := &corev1.EventList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "EventList"}, Items: []corev1.Event{{LastTimestamp: metav1.NewTime(last)}}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mediaType, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
		info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
		w.Header().Set("Content-Type", info.MediaType)
		_ = info.Serializer.Encode(events, w)
	}))
	defer server.Close()
	f := NewFactory(io.Discard)
	f.Flags.APIServer = ptr.To(server.URL)
	clients, err := f.Clients()
	if err != nil {
		t.Fatal(err)
	}
	list, err := clients.Kube.CoreV1().Events("a").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || !list.Items[0].LastTimestamp.Time.Equal(last) {
		t.Errorf("got %v %v", list, err)
	}
}

// Tenants may give an object more levels than decoders of JSON accept.
func TestADeepObjectDoesNotBreakLists(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"ConfigMapList","apiVersion":"v1","items":[{"metadata":{"name":"a","managedFields":[{"fieldsV1":` +
			strings.Repeat(`{"f:a":`, 9_998) + "{}" + strings.Repeat("}", 9_998) + `}]}}]}`))
	}))
	defer server.Close()
	f := NewFactory(io.Discard)
	f.Flags.APIServer = ptr.To(server.URL)
	clients, err := f.Clients()
	if err != nil {
		t.Fatal(err)
	}
	list, err := clients.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "a" {
		t.Errorf("got %v %v", list, err)
	}
}

// A command that lasts learns of a CustomResourceDefinition that is newer than it.
func TestResourcesAreDiscoveredAgainAtMostOnceAMinute(t *testing.T) {
	var added atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]any{"/api": metav1.APIVersions{Versions: []string{"v1"}}, "/apis": metav1.APIGroupList{}}
		list := metav1.APIResourceList{GroupVersion: "v1"}
		if added.Load() {
			list.APIResources = []metav1.APIResource{{Name: "widgets", SingularName: "widget", Kind: "Widget", Namespaced: true, Verbs: metav1.Verbs{"list"}}}
		}
		answers["/api/v1"] = list
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answers[r.URL.Path])
	}))
	defer server.Close()
	f := NewFactory(io.Discard)
	f.Flags.APIServer, f.Flags.CacheDir = ptr.To(server.URL), ptr.To(t.TempDir())
	for range 2 {
		if _, err := f.Mapping("widgets"); err == nil {
			t.Fatal("there is a mapping of a resource that does not exist")
		}
	}
	added.Store(true)
	if _, err := f.Mapping("widgets"); err == nil {
		t.Error("the resources are discovered with every request")
	}
	f.discovery.at = time.Now().Add(-2 * discoveryPeriod)
	if _, err := f.Mapping("widgets"); err != nil {
		t.Error(err)
	}
}
