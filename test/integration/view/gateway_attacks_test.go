package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The gateway's own token opens nothing: kube-apiserver lets it act as others in the subtrees of TenantViews only.
func TestTheGatewaysTokenOpensNothingOutsideOfViews(t *testing.T) {
	tn, other := newUser(t, "trusting"), "foreign"
	_, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}}, metav1.CreateOptions{})
	must(t, "namespace", err)
	stolen, _, err := cp.ServiceAccount(t.Context(), controlplane.Namespace, gateway.Name)
	must(t, "token", err)
	as := func(identity rest.ImpersonationConfig) suite.User {
		config := rest.CopyConfig(stolen)
		config.Impersonate = identity
		u, err := suite.NewUser("thief", config)
		must(t, "clients", err)
		return u
	}
	whoami, err := tn.direct.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), selfReview, metav1.CreateOptions{})
	must(t, "whoami", err)
	victim := as(rest.ImpersonationConfig{UserName: whoami.Status.UserInfo.Username})
	if _, err := victim.CoreV1().Secrets(tn.root).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("in a view: %v", err)
	}
	// Everybody who may do all of this.
	powerful := rest.ImpersonationConfig{UserName: "kubernetes-admin"}
	must(t, "binding", bindCluster(t, "powerful", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: powerful.UserName}))
	thief := as(powerful)
	for what, attempt := range map[string]func(suite.User) error{
		"secrets of another namespace": func(u suite.User) error {
			_, err := u.CoreV1().Secrets(other).List(t.Context(), metav1.ListOptions{})
			return err
		},
		"secrets of all namespaces": func(u suite.User) error {
			_, err := u.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
			return err
		},
		"a binding in the cluster": func(u suite.User) error {
			_, err := u.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "thief"},
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}}, metav1.CreateOptions{})
			return err
		},
		"a namespace": func(u suite.User) error {
			_, err := u.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "thief"}}, metav1.CreateOptions{})
			return err
		},
		"a view": func(u suite.User) error {
			_, err := u.HNC.HncV1alpha3().TenantViews(other).Create(t.Context(), &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Name: hnc.TenantViewSingleton}}, metav1.CreateOptions{})
			return err
		},
	} {
		for who, u := range map[string]suite.User{"the gateway": as(rest.ImpersonationConfig{}), "a powerful user": thief,
			"an administrator": as(rest.ImpersonationConfig{UserName: "a", Groups: []string{"system:masters"}})} {
			if err := attempt(u); !apierrors.IsForbidden(err) {
				t.Errorf("%s, as %s: %v", what, who, err)
			}
		}
	}
	if _, err := as(rest.ImpersonationConfig{UserName: "a", Groups: []string{"system:masters"}}).CoreV1().Secrets(tn.root).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("as system:masters in a view: %v", err)
	}
}

var selfReview = &authenticationv1.SelfSubjectReview{}

func bindCluster(t *testing.T, name string, subject rbacv1.Subject) error {
	_, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: []rbacv1.Subject{subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}}, metav1.CreateOptions{})
	return err
}

func TestForgedIdentitiesAreRejectedByTheGateway(t *testing.T) {
	tn := newUser(t, "forged")
	for _, header := range [][]string{{"Impersonate-User", "kubernetes-admin"}, {"Impersonate-Group", "system:masters"}} {
		if code, body := tn.raw(t, http.MethodGet, "/api/v1/namespaces/default/secrets", "", header...); code != http.StatusForbidden && code != http.StatusBadRequest {
			t.Errorf("%s through kube-apiserver: got %d %s", header[0], code, body)
		}
	}
	whoami := func(direct bool, header ...string) (int, string) {
		user := *tn
		if direct {
			user.view = ownPort(t, tn)
		}
		return user.raw(t, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", append(header, "Content-Type", "application/json")...)
	}
	for _, direct := range []bool{false, true} {
		for _, header := range [][]string{
			{"X-Remote-User", "kubernetes-admin"}, {"X-Remote-Group", "system:masters"}, {"X-Remote-Extra-Example.com%2fx", "y"}, {"Connection", "Impersonate-User, X-Remote-User"},
		} {
			code, body := whoami(direct, header...)
			if code != http.StatusBadRequest && (code != http.StatusCreated || !strings.Contains(body, `"user-`) || strings.Contains(body, "masters") || strings.Contains(body, "example.com")) {
				t.Errorf("%s, direct %t: got %d %s", header[0], direct, code, body)
			}
		}
	}
	for _, header := range [][]string{{"Impersonate-User", "kubernetes-admin"}, {"Impersonate-Extra-Example.com%2fx", "y"}} {
		if code, body := whoami(true, header...); code != http.StatusBadRequest {
			t.Errorf("%s to the gateway itself: got %d %s", header[0], code, body)
		}
	}
}

// ownPort returns the clients of a tenant whose view is at the port of the gateway.
func ownPort(t *testing.T, tn *tenant) suite.User {
	t.Helper()
	return ownPortOf(t, tn, gateway)
}

func ownPortOf(t *testing.T, tn *tenant, replica controlplane.Server) suite.User {
	t.Helper()
	port, err := cp.Port(replica.Process())
	must(t, "port", err)
	config := rest.CopyConfig(tn.direct.Config)
	config.Host = fmt.Sprintf("https://127.0.0.1:%d%s", port, hnc.ViewPath(tn.root))
	u, err := suite.NewUser(tn.root, config)
	must(t, "clients", err)
	return u
}

// servedBy returns those clients when the replica serves them: each reads the authorities of certificates by itself.
func servedBy(t *testing.T, tn *tenant, replica controlplane.Server) suite.User {
	t.Helper()
	u := ownPortOf(t, tn, replica)
	suite.Eventually(t, "the replica serves the view", func() error {
		_, err := u.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return u
}

func TestIdentitiesThatCannotBeKeptAreRefused(t *testing.T) {
	tn := newUser(t, "identities")
	for what, test := range map[string]struct {
		identity rest.ImpersonationConfig
		want     string
	}{
		"an administrator": {rest.ImpersonationConfig{UserName: "a", Groups: []string{"system:masters"}}, "whom nobody may impersonate"},
		"scopes":           {rest.ImpersonationConfig{UserName: "a", Groups: []string{"identities"}, Extra: map[string][]string{"scopes": {"read"}}}, `the extra value "scopes"`},
	} {
		bindAdminAs(t, tn.root, "identities", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "identities"})
		config := cp.RESTConfig()
		config.Impersonate = test.identity
		config.Host += hnc.ViewPath(tn.root)
		u, err := suite.NewUser(what, config)
		must(t, "clients", err)
		suite.Eventually(t, what, func() error {
			_, err := u.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.want) {
				return cmp.Or(err, errors.New("it is served"))
			}
			return nil
		})
	}
}

// A ServiceAccount of the view uses it; one of another namespace needs a binding there.
func TestServiceAccountsUseViews(t *testing.T) {
	tn := newUser(t, "accounts")
	for _, ns := range []string{tn.root, people} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
		_, err := admin.CoreV1().ServiceAccounts(ns).Create(t.Context(), account, metav1.CreateOptions{})
		must(t, "account", err)
		bindAdminAs(t, tn.root, "robot-of-"+ns, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "robot"})
	}
	inside, _, err := cp.ServiceAccount(t.Context(), tn.root, "robot")
	must(t, "token", err)
	configMap(t, through(t, tn.root, inside).view, "default", "by-robot")
	outside, _, err := cp.ServiceAccount(t.Context(), people, "robot")
	must(t, "token", err)
	outside.Host += hnc.ViewPath(tn.root)
	u, err := suite.NewUser("outside", outside)
	must(t, "clients", err)
	suite.Eventually(t, "a foreign account is refused", func() error {
		_, err := u.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "impersonate:serviceaccount") {
			return cmp.Or(err, errors.New("it is served"))
		}
		return nil
	})
	_, err = admin.RbacV1().RoleBindings(people).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "views"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "hns-gateway:accounts"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: controlplane.Namespace, Name: gateway.Name}}}, metav1.CreateOptions{})
	must(t, "binding", err)
	suite.Eventually(t, "a foreign account with a binding", func() error {
		_, err := u.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err
	})
}

// Who is admin of a namespace neither opens a view of it, nor takes the grant of one.
func TestTenantsDoNotDecideAboutViews(t *testing.T) {
	tn := newUser(t, "humble")
	child(t, "humble-a", tn.root)
	views := tn.direct.HNC.HncV1alpha3().TenantViews("humble-a")
	_, err := views.Create(t.Context(), &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Name: hnc.TenantViewSingleton}}, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a tenant creates a view: %v", err)
	}
	// With the permission in its namespaces, and not in all.
	whoami, err := tn.direct.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), selfReview, metav1.CreateOptions{})
	must(t, "whoami", err)
	bindAdminAs(t, tn.root, "views", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: whoami.Status.UserInfo.Username}, "hns-tenantviews-admin")
	suite.Eventually(t, "a tenant with the permission in its tree only", func() error {
		_, err := views.Create(t.Context(), &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Name: hnc.TenantViewSingleton}}, metav1.CreateOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "in some namespaces only") {
			return cmp.Or(err, errors.New("it is created"))
		}
		return nil
	})
	_, err = tn.direct.HNC.HncV1alpha3().TenantViews(tn.root).Patch(t.Context(), hnc.TenantViewSingleton, types.MergePatchType, []byte(`{"spec":{"prefix":"other-"}}`), metav1.PatchOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a tenant changes a view: %v", err)
	}
	grant := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: hnc.ViewGrant}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}
	for _, ns := range []string{tn.root, "humble-a"} {
		suite.Eventually(t, "the grant in "+ns, func() error {
			_, err := tn.direct.RbacV1().RoleBindings(ns).Get(t.Context(), hnc.ViewGrant, metav1.GetOptions{})
			return err
		})
		bindings := tn.direct.RbacV1().RoleBindings(ns)
		if err := bindings.Delete(t.Context(), hnc.ViewGrant, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a tenant deletes the grant in %s: %v", ns, err)
		}
		if err := bindings.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=" + hnc.ViewGrant}); !apierrors.IsForbidden(err) {
			t.Errorf("a tenant deletes the grants in %s: %v", ns, err)
		}
		patch := []byte(`{"metadata":{"annotations":{"` + hnc.AnnotationNone + `":"true"}}}`)
		if _, err := bindings.Patch(t.Context(), hnc.ViewGrant, types.MergePatchType, patch, metav1.PatchOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a tenant changes the grant in %s: %v", ns, err)
		}
	}
	if _, err := admin.RbacV1().RoleBindings(people).Create(t.Context(), grant, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("somebody else creates a grant: %v", err)
	}
}

// The grant goes with the view, and from a namespace that leaves.
func TestTheGrantGoesWithTheView(t *testing.T) {
	tn, other := newUser(t, "granted"), newTenant(t, "granted-not")
	child(t, "granted-a", tn.root)
	child(t, "granted-b", tn.root)
	granted := func(ns string) string {
		_, err := admin.RbacV1().RoleBindings(ns).Get(t.Context(), hnc.ViewGrant, metav1.GetOptions{})
		return map[bool]string{true: "gone", false: "there"}[apierrors.IsNotFound(err)]
	}
	suite.EventuallyEqual(t, "the grant in a child", "there", func() string { return granted("granted-a") })
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	watch, err := tn.view.CoreV1().ConfigMaps("a").Watch(ctx, metav1.ListOptions{})
	must(t, "watch", err)
	defer watch.Stop()
	leave(t, "granted-a", other.root)
	for range watch.ResultChan() {
		continue
	}
	if ctx.Err() != nil {
		t.Fatal("the watch of a namespace that left goes on")
	}
	suite.EventuallyEqual(t, "the grant in a namespace that left", "gone", func() string { return granted("granted-a") })
	suite.Eventually(t, "the namespace that left", func() error {
		_, err := tn.view.CoreV1().ConfigMaps("a").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			return cmp.Or(err, errors.New("it is still served"))
		}
		return nil
	})
	must(t, "delete", admin.HNC.HncV1alpha3().TenantViews(tn.root).Delete(t.Context(), hnc.TenantViewSingleton, metav1.DeleteOptions{}))
	for _, ns := range []string{tn.root, "granted-b"} {
		suite.EventuallyEqual(t, "the grant in "+ns, "gone", func() string { return granted(ns) })
	}
	suite.Eventually(t, "the view", func() error {
		_, err := tn.view.CoreV1().ConfigMaps("b").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			return cmp.Or(err, errors.New("it is still served"))
		}
		return nil
	})
}

// Nobody enters a view without the permission on it, however much they may do in its namespaces.
func TestAViewIsEnteredWithItsPermission(t *testing.T) {
	tn := newUser(t, "entered")
	config, err := cp.User("stranger")
	must(t, "certificate", err)
	config.Host += hnc.ViewPath(tn.root)
	stranger, err := suite.NewUser("stranger", config)
	must(t, "clients", err)
	if _, err := stranger.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a stranger: %v", err)
	}
	user := tenant{root: tn.root, direct: stranger}
	user.direct.Config.Host = tn.direct.Config.Host
	if _, err := ownPort(t, &user).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a stranger at the gateway's own port: %v", err)
	}
	configMap(t, ownPort(t, tn), "default", "at-its-port")
	anonymous := *tn
	anonymous.direct.Config = rest.AnonymousClientConfig(tn.direct.Config)
	if _, err := ownPort(t, &anonymous).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		t.Errorf("anonymous: %v", err)
	}
	// A reader of the root reads through the view, and writes nothing.
	reader, err := cp.User("reader")
	must(t, "certificate", err)
	bindAdminAs(t, tn.root, "reader", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}, "view")
	r := through(t, tn.root, reader)
	if _, err := r.view.CoreV1().ConfigMaps("default").Get(t.Context(), "at-its-port", metav1.GetOptions{}); err != nil {
		t.Errorf("a reader: %v", err)
	}
	if _, err := r.view.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a reader writes: %v", err)
	}
}
