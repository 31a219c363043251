package options

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
)

func TestNothingIsWrittenWithoutTheLease(t *testing.T) {
	var mu sync.Mutex
	var received []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		received = append(received, r.Method+" "+r.Header.Get("Impersonate-User"))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	o := New()
	manager, _, stop, err := o.manager(t.Context(), &rest.Config{Host: server.URL}, func(...metrics.Registerable) {})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	impersonating, err := metadata.NewForConfig(cluster.Impersonating(manager.Client, hnc.ServiceAccountReference{Namespace: "hns-repositories", Name: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, namespaces := t.Context(), impersonating.Resource(corev1.SchemeGroupVersion.WithResource("namespaces"))
	_, created := manager.Kubernetes.CoreV1().Events("a").Create(ctx, &corev1.Event{}, metav1.CreateOptions{})
	for what, err := range map[string]error{
		"an event is created":                 created,
		"a RepositorySync is deleted":         manager.Hierarchy.HncV1alpha3().RepositorySyncs().Delete(ctx, "a", metav1.DeleteOptions{}),
		"an object is deleted for an account": namespaces.Delete(ctx, "a", metav1.DeleteOptions{}),
	} {
		if !errors.Is(err, serving.ErrNotLeading) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, _ = namespaces.Get(ctx, "a", metav1.GetOptions{})
	if want := []string{"GET system:serviceaccount:hns-repositories:a"}; !slices.Equal(received, want) {
		t.Errorf("the server has received %v, want %v", received, want)
	}
}
