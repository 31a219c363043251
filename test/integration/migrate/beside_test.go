package migrate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// servesReadsOnly checks that users with all permissions on hierarchies in their namespace cannot write v1beta1 objects
// that HNC does not see, and that the plugin says so.
func servesReadsOnly(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	const name = "alone-admin"
	_, err := admin.RbacV1().Roles("alone").Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{hnc.GroupName}, Resources: []string{"*"}, Verbs: []string{"*"}}}}, metav1.CreateOptions{})
	_, bound := admin.RbacV1().RoleBindings("alone").Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}}}, metav1.CreateOptions{})
	if err := errors.Join(err, bound); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(admin.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name}
	user, err := suite.NewUser(name, config)
	if err != nil {
		t.Fatal(err)
	}
	client := user.HNC.HncV1beta1()
	suite.Eventually(t, "the user may read", func() error {
		_, err := client.Hierarchies("alone").List(ctx, metav1.ListOptions{})
		return err
	})
	meta := metav1.ObjectMeta{Name: "beside"}
	for what, write := range map[string]func() error{
		"a hierarchy": func() error {
			_, err := client.Hierarchies("alone").Create(ctx, &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}}, metav1.CreateOptions{})
			return err
		},
		"a Subnamespace": func() error {
			_, err := client.Subnamespaces("alone").Create(ctx, &v1beta1.Subnamespace{ObjectMeta: meta}, metav1.CreateOptions{})
			return err
		},
		"a quota": func() error {
			_, err := client.HierarchicalResourceQuotas("alone").Create(ctx, &v1beta1.HierarchicalResourceQuota{ObjectMeta: meta}, metav1.CreateOptions{})
			return err
		},
		"the configuration": func() error {
			_, err := admin.HNC.HncV1beta1().HNCConfigurations().Create(ctx, &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}}, metav1.CreateOptions{})
			return err
		},
	} {
		if err := write(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "HNC serves the hierarchies of this cluster") {
			t.Errorf("%s beside HNC: %v", what, err)
		}
	}
	for _, args := range [][]string{{"create", "beside", "-n", "alone"}, {"set", "alone", "--parent", root}, {"tree", "-A"}, {"config", "describe"}} {
		if out, err := plugin(t, "", append(args, "--as="+name)...); err == nil || !strings.Contains(err.Error(), "use HNC's plugin until kubectl hns migrate has moved them") {
			t.Errorf("the plugin beside HNC: %v: %v\n%s", args, err, out)
		}
	}
	if _, err := client.Hierarchies("alone").Get(ctx, hnc.Singleton, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Error(fmt.Errorf("it was written: %w", err))
	}
}

// prefersHNC checks that the plugin serves a migrated cluster also if HNC's version is the preferred one, as with a
// chart that still has besideHNC=true.
func prefersHNC(t *testing.T) {
	t.Helper()
	must(t, "tree", root)
	prefer := func(priority int) {
		patch := fmt.Appendf(nil, `{"spec":{"versionPriority":%d}}`, priority)
		if _, err := admin.Dynamic.Resource(apiServices).Patch(t.Context(), "v1beta1.hnc.x-k8s.io", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		prefers(t, priority == 10)
	}
	prefer(10)
	must(t, "tree", root)
	prefer(200)
}

// prefers waits until HNC's version is the preferred one of the group, or another.
func prefers(t *testing.T, hncs bool) {
	t.Helper()
	suite.Eventually(t, "the preferred version", func() error {
		groups, err := admin.Discovery().ServerGroups()
		if err != nil {
			return err
		}
		for _, g := range groups.Groups {
			if g.Name == hnc.GroupName && (g.PreferredVersion.Version == "v1alpha2") != hncs {
				return fmt.Errorf("it is %s", g.PreferredVersion.Version)
			}
		}
		return nil
	})
}
