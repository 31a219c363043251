package servers

import (
	"context"
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// user is somebody's clients.
type user struct {
	kubernetes.Interface
	// dynamic speaks of hierarchies under both of their names alike.
	dynamic dynamic.Interface

	config *rest.Config
	// account is the namespace and name of a ServiceAccount.
	account rbacv1.Subject
}

func newUser(name string, config *rest.Config) (*user, error) {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("clients of %s: %w", name, err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("clients of %s: %w", name, err)
	}
	return &user{Interface: typed, dynamic: untyped, config: config}, nil
}

// direct returns the user's clients for one replica, past kube-apiserver.
func (u *user) direct(r *replica) (*user, error) {
	config := rest.CopyConfig(u.config)
	config.Host = r.host
	direct, err := newUser("the same user", config)
	if err != nil {
		return nil, err
	}
	direct.account = u.account
	return direct, nil
}

// at returns the user's clients for the replica of that number.
func (u *user) at(t *testing.T, replica int) *user {
	t.Helper()
	direct, err := u.direct(replicas[replica])
	if err != nil {
		t.Fatal(err)
	}
	return direct
}

// newAccount returns the clients of a new ServiceAccount, which has no permissions.
func newAccount(t *testing.T, name string) *user {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if _, err := admin.CoreV1().ServiceAccounts(account.Namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config, _, err := cp.ServiceAccount(t.Context(), account.Namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	u, err := newUser(name, config)
	if err != nil {
		t.Fatal(err)
	}
	u.account = rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: name}
	return u
}

// right is a ClusterRole that makes its holder an admin of a namespace.
type right struct {
	role string
	// resource is one that the role allows to update.
	resource string
}

var (
	// fullAdmin is Kubernetes' own role.
	fullAdmin = right{"admin", "hierarchies"}
	// only one of the names is enough.
	updateHierarchies    = right{"update-hierarchies", "hierarchies"}
	updateConfigurations = right{"update-hierarchyconfigurations", "hierarchyconfigurations"}
)

// grant gives the user a permission in namespaces, and returns when kube-apiserver knows of it.
func (u *user) grant(t *testing.T, r right, namespaces ...string) {
	t.Helper()
	for _, namespace := range namespaces {
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: u.account.Name + "-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: r.role},
			Subjects:   []rbacv1.Subject{u.account},
		}
		if _, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, namespace := range namespaces {
		eventually(t, fmt.Sprintf("%s has the permission %s in %s", u.account.Name, r.role, namespace), func() error {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "update", Group: hnc.GroupName, Resource: r.resource},
			}}
			answer, err := u.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
			if err == nil && !answer.Status.Allowed {
				err = fmt.Errorf("denied: %s", answer.Status.Reason)
			}
			return err
		})
	}
}

// definePermissions creates the roles of the permissions that aren't Kubernetes' own.
func definePermissions(ctx context.Context) error {
	for _, r := range []right{updateHierarchies, updateConfigurations} {
		role := &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: r.role},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{hnc.GroupName}, Resources: []string{r.resource}, Verbs: []string{"update"}}},
		}
		if _, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
