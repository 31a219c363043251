package reads

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// newUser returns the clients of a user that has no permissions but those of every user.
func newUser(t *testing.T, name string, groups ...string) user {
	t.Helper()
	config, err := cp.User(name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	u, err := clients(name, config)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// kubeconfig returns the path of a kubeconfig of the user.
func (u user) kubeconfig(t *testing.T) (string, error) {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: u.Config.Host, CertificateAuthorityData: u.Config.CAData}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: u.Config.CertData, ClientKeyData: u.Config.KeyData, Token: u.Config.BearerToken}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}

// namespaces creates them.
func namespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := root.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// setParent gives a namespace that has no hierarchy yet a parent.
func setParent(t *testing.T, name, parent string) {
	t.Helper()
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}
	if _, err := root.HNC.HncV1beta1().Hierarchies(name).Create(t.Context(), h, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func subnamespace(t *testing.T, parent, name string) {
	t.Helper()
	s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := root.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// role makes a ClusterRole of one rule.
func role(t *testing.T, name string, rule rbacv1.PolicyRule) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}}
	if _, err := root.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// bind gives a user a ClusterRole in a namespace.
func bind(t *testing.T, namespace, role, name string) *rbacv1.RoleBinding {
	t.Helper()
	binding, err := root.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return binding
}
