package controlplane

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const devKustomization = "../../artifacts/dev"

// install returns an Installation, the APIServices of which are deleted after the test.
func install(t *testing.T, cp *ControlPlane) *Installation {
	t.Helper()
	installation, err := cp.Install(t.Context(), devKustomization)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, object := range slices.Clone(installation.registration) {
			if err := cp.Deregister(context.Background(), installation, object.GetName()); err != nil {
				t.Error(err)
			}
		}
	})
	return installation
}

// standIn runs one in this process, on the port of hns-apiserver's first replica, and returns the name of the user that
// kube-apiserver forwarded last.
func standIn(t *testing.T, installation *Installation) *atomic.Value {
	t.Helper()
	lastUser := &atomic.Value{}
	cert, err := tls.LoadX509KeyPair(installation.Serving.CertFile, installation.Serving.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", loopback(installation.APIServerPort))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(standInHandler(lastUser))
	_ = server.Listener.Close()
	server.Listener = listener
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return lastUser
}

func TestAServerOnTheLoopbackInterfaceIsReachedThroughKubeAPIServer(t *testing.T) {
	cp := shared(t)
	installation := install(t, cp)
	lastUser := standIn(t, installation)
	if err := cp.Register(t.Context(), installation, installation.APIServerPort); err != nil {
		t.Fatal(err)
	}
	config, err := cp.User("alice")
	if err != nil {
		t.Fatal(err)
	}
	alice, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alice.Discovery().ServerResourcesForGroupVersion(group + "/v1beta1"); err != nil {
		t.Fatal(err)
	}
	if user := lastUser.Load(); user != "alice" {
		t.Errorf("the server saw user %v, want alice", user)
	}
}

func TestTheServerAcceptsEveryKustomization(t *testing.T) {
	cp := shared(t) // with what the others are in, and change
	for _, name := range []string{"base", "ha", "policies"} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), filepath.Join(binDir, kubectl), "--kubeconfig="+cp.Kubeconfig(),
				"apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k", filepath.Join("../../artifacts", name))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// right is one question to the authorizer and its answer.
type right struct {
	who, verb, group, resource, subresource, namespace, name string
	want                                                     bool
}

// The permissions that our servers and the users of Kubernetes' own roles must and must not have.
func TestTheArtifactsGrantWhatIsNeededAndNoMore(t *testing.T) {
	cp := shared(t)
	c := client(t, cp)
	const (
		apiServer  = "system:serviceaccount:" + Namespace + ":" + hnc.APIServerName
		propagator = "system:serviceaccount:" + Namespace + ":" + hnc.PropagatorName
		admission  = "admissionregistration.k8s.io"
		rbac       = "rbac.authorization.k8s.io"
	)
	for _, role := range []string{"view", "edit", "admin"} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbac, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbac, Kind: "User", Name: role}},
		}
		if _, err := c.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	permissions := []right{
		{who: apiServer, verb: "watch", resource: "namespaces", want: true},
		{who: apiServer, verb: "update", resource: "namespaces"},
		{who: apiServer, verb: "create", group: "authentication.k8s.io", resource: "tokenreviews", want: true},
		{who: apiServer, verb: "create", group: "authorization.k8s.io", resource: "subjectaccessreviews", want: true},
		{who: apiServer, verb: "get", resource: "configmaps", namespace: "kube-system", name: "extension-apiserver-authentication", want: true},
		{who: apiServer, verb: "list", resource: "secrets", namespace: "acme", want: true},
		{who: apiServer, verb: "update", resource: "secrets", namespace: "acme"},
		{who: apiServer, verb: "impersonate", resource: "users"},
		{who: apiServer, verb: "watch", group: admission, resource: "mutatingadmissionpolicybindings", want: true},
		{who: apiServer, verb: "watch", group: "flowcontrol.apiserver.k8s.io", resource: "flowschemas", want: true},

		{who: propagator, verb: "delete", resource: "namespaces", want: true},
		{who: propagator, verb: "escalate", group: rbac, resource: "roles", namespace: "acme", want: true},
		{who: propagator, verb: "bind", group: rbac, resource: "clusterroles", want: true},
		{who: propagator, verb: "update", group: rbac, resource: "clusterroles"},
		{who: propagator, verb: "patch", group: group, resource: "subnamespaces", subresource: "status", namespace: "acme", want: true},
		{who: propagator, verb: "delete", group: group, resource: "subnamespaces", namespace: "acme"},
		{who: propagator, verb: "update", group: "coordination.k8s.io", resource: "leases", namespace: Namespace, name: hnc.PropagatorName, want: true},
		{who: propagator, verb: "update", group: "coordination.k8s.io", resource: "leases", namespace: Namespace, name: "hns-sync"},
		{who: propagator, verb: "update", group: "coordination.k8s.io", resource: "leases", namespace: "kube-system"},
		{who: propagator, verb: "get", resource: "secrets", namespace: "acme", want: true},
		{who: propagator, verb: "patch", resource: "secrets", namespace: "acme"},
	}
	for _, role := range []string{"view", "edit", "admin"} {
		permissions = append(permissions,
			right{who: role, verb: "get", group: group, resource: "hierarchies", subresource: "tree", namespace: "acme", want: true},
			right{who: role, verb: "create", group: group, resource: "mynamespaces"})
	}
	for resource, writer := range map[string]string{
		"hierarchies": "admin", "hierarchyconfigurations": "admin", "subnamespaces": "edit", "subnamespaceanchors": "edit",
	} {
		for _, role := range []string{"view", "edit", "admin"} {
			writes := role == "admin" || role == writer
			permissions = append(permissions,
				right{who: role, verb: "list", group: "resources." + group, resource: "secrets", namespace: "acme", want: true},
				right{who: role, verb: "delete", group: "resources." + group, resource: "secrets", namespace: "acme"},
				right{who: role, verb: "watch", group: group, resource: resource, namespace: "acme", want: true},
				right{who: role, verb: "get", group: group, resource: resource, subresource: "status", namespace: "acme", want: true},
				right{who: role, verb: "update", group: group, resource: resource, namespace: "acme", want: writes},
				right{who: role, verb: "deletecollection", group: group, resource: resource, namespace: "acme", want: writes},
				right{who: role, verb: "update", group: group, resource: resource, subresource: "status", namespace: "acme"},
			)
		}
	}
	// Permissions that are missing are asked for when those that are gathered from other roles have arrived.
	slices.SortStableFunc(permissions, func(a, b right) int {
		switch {
		case a.want == b.want:
			return 0
		case a.want:
			return -1
		}
		return 1
	})
	for _, r := range permissions {
		can := "cannot"
		if r.want {
			can = "can"
		}
		t.Run(strings.Join([]string{r.who, can, r.verb, r.resource, r.subresource, r.name}, " "), func(t *testing.T) {
			ask(t, c, r)
		})
	}
}

// ask fails unless the answer becomes the wanted one: roles are aggregated, and caches of RBAC filled, a little after a
// write.
func ask(t *testing.T, c kubernetes.Interface, r right) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: r.who,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
		},
	}}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		answer, err := c.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return answer.Status.Allowed == r.want, nil
	})
	if err != nil {
		t.Error(err)
	}
}
