package servers

import (
	"fmt"
	"net/http"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// headers sends them with each request.
type headers struct {
	header http.Header
	base   http.RoundTripper
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for key, values := range h.header {
		r.Header[key] = values
	}
	return h.base.RoundTrip(r)
}

// forwarded returns the clients of somebody for whom kube-apiserver forwards requests to the first replica.
func forwarded(t *testing.T, header http.Header) *user {
	t.Helper()
	pair, err := cp.FrontProxy()
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(admin.config)
	config.CertFile, config.KeyFile = pair.CertFile, pair.KeyFile
	return with(t, config, header)
}

// with returns clients for the first replica that send headers with each request.
func with(t *testing.T, config *rest.Config, header http.Header) *user {
	t.Helper()
	config.Host = replicas[0].host
	config.Wrap(func(base http.RoundTripper) http.RoundTripper { return headers{header, base} })
	u, err := newUser("forwarded", config)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// What kube-apiserver forwards it has authorized, and is not reviewed again; but that is true of the very request only.
// nobody has no permission at all.
func TestAForwardedRequestIsAuthorizedAndNothingElseIs(t *testing.T) {
	createNamespaces(t, "forwarded-root", "forwarded-child")
	header := http.Header{"X-Remote-User": {"nobody"}}
	nobody := forwarded(t, header)
	if _, err := nobody.dynamic.Resource(hierarchies.GroupVersionResource).Namespace("forwarded-child").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a list that kube-apiserver has authorized: %v", err)
	}
	if err := nobody.create(t, hierarchies, "forwarded-child", ""); err != nil {
		t.Errorf("a write that kube-apiserver has authorized: %v", err)
	}
	impersonating := forwarded(t, http.Header{"X-Remote-User": {"nobody"}, "Impersonate-User": {"kubernetes-admin"}, "Impersonate-Group": {"system:masters"}})
	_, impersonated := impersonating.dynamic.Resource(hierarchies.GroupVersionResource).Namespace("forwarded-child").List(t.Context(), metav1.ListOptions{})
	mallory, err := cp.User("mallory")
	if err != nil {
		t.Fatal(err)
	}
	pretending := with(t, mallory, http.Header{"X-Remote-User": {"kubernetes-admin"}, "X-Remote-Group": {"system:masters"}})
	_, pretended := pretending.dynamic.Resource(hierarchies.GroupVersionResource).Namespace("forwarded-child").List(t.Context(), metav1.ListOptions{})
	direct := newAccount(t, "not-forwarded").at(t, 0)
	_, straight := direct.dynamic.Resource(hierarchies.GroupVersionResource).Namespace("forwarded-child").List(t.Context(), metav1.ListOptions{})
	for what, err := range map[string]error{
		"a parent's subtree, which kube-apiserver was not asked about": nobody.patch(t, hierarchies, "forwarded-child", "forwarded-root"),
		"a request that was changed after it was authorized":           postAnchor(t, nobody, "/apis/hnc.x-k8s.io/v1alpha2/namespaces/forwarded-root/subnamespaceanchors/named", "other"),
		"another user": impersonated,
		"who is not the front proxy and names a user": pretended,
		"a metric, which is never forwarded":          nobody.CoreV1().RESTClient().Get().AbsPath("/metrics").Do(t.Context()).Error(),
		"a request straight to the server":            straight,
		"a namespace of a list over the subtree":      subtreeList(t, nobody),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v, want 403", what, err)
		}
	}
}

// subtreeList lists objects of a subtree, which are reviewed namespace by namespace.
func subtreeList(t *testing.T, u *user) error {
	t.Helper()
	return u.CoreV1().RESTClient().Get().AbsPath("/apis/resources.hnc.x-k8s.io/v1alpha2/namespaces/forwarded-root/rbac.authorization.k8s.io.rolebindings").Do(t.Context()).Error()
}

// Who may create an object of one name only can't create one of another name at the URL of the first.
func TestAPermissionToOneNameIsNoPermissionToAnother(t *testing.T) {
	createNamespaces(t, "one-name")
	u := newAccount(t, "one-name")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "one-name", Name: "one-name"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{hnc.GroupName}, Resources: []string{anchors.Resource}, ResourceNames: []string{"allowed"}, Verbs: []string{"create"},
	}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one-name", Name: "one-name"}, Subjects: []rbacv1.Subject{u.account},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "one-name"},
	}
	if _, err := admin.RbacV1().Roles("one-name").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RbacV1().RoleBindings("one-name").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the permission is known", func() error {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: "one-name", Name: "allowed", Verb: "create", Group: hnc.GroupName, Version: "v1alpha2", Resource: anchors.Resource,
			},
		}}
		answer, err := u.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err == nil && !answer.Status.Allowed {
			err = fmt.Errorf("denied: %s", answer.Status.Reason)
		}
		return err
	})
	if err := postAnchor(t, u, "/apis/hnc.x-k8s.io/v1alpha2/namespaces/one-name/subnamespaceanchors/allowed", "one-name-other"); !apierrors.IsForbidden(err) {
		t.Errorf("%v, want 403", err)
	}
}

// postAnchor sends an anchor to a URL.
func postAnchor(t *testing.T, u *user, path, name string) error {
	t.Helper()
	body := fmt.Appendf(nil, `{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"SubnamespaceAnchor","metadata":{"name":%q}}`, name)
	return u.CoreV1().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).Do(t.Context()).Error()
}
