package view

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Two tenants create namespaces and objects of the same names, and see their own only.
func TestTwoTenantsHaveTheSameNames(t *testing.T) {
	one, two := newTenant(t, "twin-1").relative(t), newTenant(t, "twin-2").relative(t)
	for _, tn := range []*tenant{one, two} {
		for _, name := range []string{"dev", "prod"} {
			ns, err := tn.view.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			must(t, "create", err)
			if ns.Name != name || ns.Labels["kubernetes.io/metadata.name"] != name {
				t.Errorf("created %s with labels %v", ns.Name, ns.Labels)
			}
			configMap(t, tn.view, name, "app")
		}
		configMap(t, tn.view, "default", "app")
	}
	for _, tn := range []*tenant{one, two} {
		list, err := tn.view.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{LabelSelector: "test"})
		must(t, "list", err)
		var found []string
		for _, cm := range list.Items {
			found = append(found, cm.Namespace)
		}
		if slices.Sort(found); !slices.Equal(found, []string{"default", "dev", "prod"}) {
			t.Errorf("%s has config maps in %v", tn.root, found)
		}
		stored, err := admin.CoreV1().ConfigMaps(tn.root+"-dev").Get(t.Context(), "app", metav1.GetOptions{})
		must(t, "the real one", err)
		if stored.Namespace != tn.root+"-dev" {
			t.Errorf("got %s", stored.Namespace)
		}
		namespaces, err := tn.view.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		must(t, "namespaces", err)
		var names []string
		for _, ns := range namespaces.Items {
			names = append(names, ns.Name)
		}
		if slices.Sort(names); !slices.Equal(names, []string{"default", "dev", "prod"}) {
			t.Errorf("%s has the namespaces %v", tn.root, names)
		}
	}
	must(t, "delete", one.view.CoreV1().Namespaces().Delete(t.Context(), "dev", metav1.DeleteOptions{}))
	suite.Eventually(t, "deleted", func() error {
		if _, err := one.view.CoreV1().Namespaces().Get(t.Context(), "dev", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	if _, err := two.view.CoreV1().ConfigMaps("dev").Get(t.Context(), "app", metav1.GetOptions{}); err != nil {
		t.Errorf("the other's: %v", err)
	}
	if err := one.view.CoreV1().Namespaces().Delete(t.Context(), "default", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the root: %v", err)
	}
	for _, name := range []string{"twin-1-prod", "twin-2-prod"} {
		if code, _ := one.raw(t, http.MethodGet, "/api/v1/namespaces/"+name+"/pods", ""); code != http.StatusNotFound {
			t.Errorf("%s: got %d", name, code)
		}
	}
	// Nothing that the view answers has a real name.
	conditions := regexp.MustCompile(`"message":"(\\.|[^"\\])*"`)
	for _, path := range []string{
		"/api/v1/namespaces", "/api/v1/namespaces/prod", "/api/v1/namespaces/prod/configmaps", "/api/v1/configmaps", "/api/v1/namespaces/prod/configmaps/missing",
		"/apis/rbac.authorization.k8s.io/v1/rolebindings", "/apis/hnc.x-k8s.io/v1beta1/namespaces/default/hierarchies", "/apis/hnc.x-k8s.io/v1beta1/subnamespaces",
		"/api/v1/events", "/api/v1/namespaces/prod/serviceaccounts/default",
	} {
		for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"} {
			code, body := one.raw(t, http.MethodGet, path, "", "Accept", accept)
			body = conditions.ReplaceAllString(body, "") // Texts for people are as they are stored.
			if i := strings.Index(body, "twin-"); i >= 0 {
				t.Errorf("%s as %s: %d has a real name: ...%s", path, accept, code, body[max(0, i-200):min(len(body), i+60)])
			}
		}
	}
}

func TestWritesOfRelativeNamesAreThoseOfTheCluster(t *testing.T) {
	tn := newTenant(t, "rel").relative(t)
	child(t, "rel-a", tn.root)
	protobuf := rest.CopyConfig(tn.view.Config)
	protobuf.ContentType, protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	operator, err := kubernetes.NewForConfig(protobuf)
	must(t, "client", err)
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "a"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "robot"}, {Kind: "User", APIGroup: rbacv1.GroupName, Name: "system:serviceaccount:a:robot"}}}
	for _, client := range []kubernetes.Interface{tn.view, operator} {
		suite.Must(t, "create", func() error {
			_, err := client.RbacV1().RoleBindings("a").Create(t.Context(), binding, metav1.CreateOptions{})
			return err
		})
		stored, err := admin.RbacV1().RoleBindings("rel-a").Get(t.Context(), "b", metav1.GetOptions{})
		must(t, "stored", err)
		if got := fmt.Sprint(stored.Subjects[0].Namespace, " ", stored.Subjects[1].Name); got != "rel system:serviceaccount:rel-a:robot" {
			t.Errorf("stored %s", got)
		}
		read, err := client.RbacV1().RoleBindings("a").Get(t.Context(), "b", metav1.GetOptions{})
		must(t, "read", err)
		if got := fmt.Sprint(read.Subjects[0].Namespace, " ", read.Subjects[1].Name); got != "default system:serviceaccount:a:robot" {
			t.Errorf("read %s", got)
		}
		// What is read can be written back, and changes nothing.
		written, err := client.RbacV1().RoleBindings("a").Update(t.Context(), read, metav1.UpdateOptions{})
		must(t, "write back", err)
		if written.ResourceVersion != read.ResourceVersion {
			t.Errorf("writing back what was read made %s of %s", written.ResourceVersion, read.ResourceVersion)
		}
		patch := []byte(`{"metadata":{"namespace":"a"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"a"}]}`)
		patched, err := client.RbacV1().RoleBindings("a").Patch(t.Context(), "b", types.MergePatchType, patch, metav1.PatchOptions{})
		must(t, "patch", err)
		if patched.Subjects[0].Namespace != "a" {
			t.Errorf("patched %v", patched.Subjects)
		}
		must(t, "delete", client.RbacV1().RoleBindings("a").Delete(t.Context(), "b", metav1.DeleteOptions{}))
	}
	if code, body := tn.raw(t, http.MethodPost, "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"x","namespace":"default"}}`, "Content-Type", "application/json"); code != http.StatusBadRequest || strings.Contains(body, "rel") {
		t.Errorf("another namespace in the body: %d %s", code, body)
	}
}

func TestWatchesOfRelativeNamesFollowTheView(t *testing.T) {
	tn := newTenant(t, "relw").relative(t)
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	watched, err := tn.view.CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{LabelSelector: "test"})
	must(t, "watch", err)
	defer watched.Stop()
	_, err = tn.view.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	must(t, "namespace", err)
	configMap(t, tn.view, "a", "one")
	select {
	case event := <-watched.ResultChan():
		if cm, ok := event.Object.(*corev1.ConfigMap); !ok || cm.Namespace != "a" {
			t.Errorf("got %v", event)
		}
	case <-time.After(suite.Deadline):
		t.Fatal("no event")
	}
}
