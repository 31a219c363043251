package client

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// newBindingsReader returns a Reader of what the handler responds.
func newBindingsReader(t *testing.T, handler http.HandlerFunc) *Reader {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	r, err := NewReader(&rest.Config{Host: server.URL, QPS: -1}, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// respond writes an object of a version as kube-apiserver does.
func respond(t *testing.T, w http.ResponseWriter, status int, version schema.GroupVersion, o runtime.Object) {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	body, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, version), o)
	if err != nil {
		t.Error(err)
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func refersToOps(role string) bool { return role == "ops" }

func TestRoleBindingsAreReadInPages(t *testing.T) {
	binding := func(name, kind, role string) rbacv1.RoleBinding {
		return rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: "u", ResourceVersion: "7", Finalizers: []string{"x/1", "x/2"}, Labels: map[string]string{"large": "label"}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "ann"}},
		}
	}
	pages := map[string]*rbacv1.RoleBindingList{
		"": {
			ListMeta: metav1.ListMeta{Continue: "second"},
			Items:    []rbacv1.RoleBinding{binding("1", "Role", "ops"), binding("2", "ClusterRole", "ops"), binding("3", "Role", "other")},
		},
		"second": {Items: []rbacv1.RoleBinding{binding("4", "Role", "ops")}},
	}
	requests := 0
	r := newBindingsReader(t, func(w http.ResponseWriter, request *http.Request) {
		requests++
		q := request.URL.Query()
		if request.URL.Path != "/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings" || q.Get("limit") != fmt.Sprint(bindingsPerPage) || q.Get("labelSelector") != "!copy" {
			t.Errorf("requested %s", request.URL)
		}
		respond(t, w, http.StatusOK, rbacv1.SchemeGroupVersion, pages[q.Get("continue")])
	})
	var found []*rbacv1.RoleBinding
	err := r.RoleBindings(t.Context(), "a", "!copy", refersToOps, func(b *rbacv1.RoleBinding) error {
		found = append(found, b)
		return nil
	})
	if err != nil || requests != 2 || len(found) != 2 || found[0].Name != "1" || found[1].Name != "4" {
		t.Fatalf("got %v, %v in %d requests", err, found, requests)
	}
	if b := found[0]; b.UID != "u" || b.ResourceVersion != "7" || !slices.Equal(b.Finalizers, []string{"x/1"}) || b.RoleRef != pages[""].Items[0].RoleRef || len(b.Subjects)+len(b.Labels) > 0 {
		t.Errorf("got %v", b)
	}
}

func TestAnExpiredListOfRoleBindingsIsReported(t *testing.T) {
	r := newBindingsReader(t, func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Query().Get("continue") == "" {
			respond(t, w, http.StatusOK, rbacv1.SchemeGroupVersion, &rbacv1.RoleBindingList{ListMeta: metav1.ListMeta{Continue: "more"}})
			return
		}
		status := apierrors.NewResourceExpired("too old").Status()
		respond(t, w, http.StatusGone, schema.GroupVersion{Version: "v1"}, &status)
	})
	if err := r.RoleBindings(t.Context(), "a", "", refersToOps, nil); !apierrors.IsResourceExpired(err) {
		t.Errorf("got %v", err)
	}
}

// One tenant may have twenty of 1.4 MB in each of many namespaces.
func TestFewPagesOfRoleBindingsAreReadAtATime(t *testing.T) {
	const lists = 4 * bindingPages
	arrived, proceed := make(chan struct{}, lists), make(chan struct{})
	r := newBindingsReader(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-proceed
		respond(t, w, http.StatusOK, rbacv1.SchemeGroupVersion, &rbacv1.RoleBindingList{})
	})
	var reading sync.WaitGroup
	for range lists {
		reading.Go(func() {
			if err := r.RoleBindings(t.Context(), "a", "", refersToOps, nil); err != nil {
				t.Error(err)
			}
		})
	}
	for range bindingPages {
		<-arrived
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.RoleBindings(canceled, "a", "", refersToOps, nil); err == nil || !strings.Contains(err.Error(), "canceled") || len(arrived) > 0 {
		t.Errorf("got %v, and %d more pages", err, len(arrived))
	}
	close(proceed)
	reading.Wait()
	if len(arrived) != lists-bindingPages {
		t.Errorf("%d lists were read later", len(arrived))
	}
}
