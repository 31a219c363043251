// Package policy tests the admission policies in a real kube-apiserver, as real users with permissions from RBAC see
// them.
package policy

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir   = "../../../_output/bin"
	deadline = 2 * time.Minute
	interval = 50 * time.Millisecond
)

// user is somebody's clients.
type user struct {
	kubernetes.Interface
	dynamic dynamic.Interface
}

var (
	cp *controlplane.ControlPlane
	// admin is of the group system:masters.
	admin user
	// alice may do everything with namespaces and with what the tests put into them, and nothing else.
	alice user
	// restorer may create namespaces and restore hierarchies.
	restorer user
	// reporter may only read what the tests create, and write its status.
	reporter user
	// propagator has the name of the propagator, and all permissions so that the tests are about policies alone.
	propagator user
)

func TestMain(m *testing.M) { os.Exit(suite.RunConfigured(m, binDir, configure, setUp)) }

// configure has the expressions of policies checked, which is left out elsewhere.
func configure(config *controlplane.Config) error {
	config.ControllerManagerArgs = []string{"--controllers=*"}
	return nil
}

// setUp installs the policies the way users do and makes the users.
func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	var err error
	if admin, err = clients(cp.RESTConfig()); err != nil {
		return err
	}
	named, err := cp.User(hnc.PropagatorUser, "system:masters")
	if err != nil {
		return err
	}
	if propagator, err = clients(named); err != nil {
		return err
	}
	for _, ns := range []*corev1.Namespace{namespace(hnc.SystemNamespace), namespace("people", label(hnc.LabelIncludedNamespace, "true"), label(hnc.LabelInTree, "true"))} {
		if _, err := admin.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	all := []string{"*"}
	alice, err = person(ctx, "alice",
		rbacv1.PolicyRule{APIGroups: []string{""}, Verbs: all,
			Resources: []string{"namespaces", "namespaces/status", "namespaces/finalize", "configmaps", "resourcequotas"}},
		rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Verbs: all, Resources: []string{"roles", "rolebindings"}},
		rbacv1.PolicyRule{APIGroups: []string{widgets.Group}, Verbs: all, Resources: all},
	)
	if err != nil {
		return err
	}
	restorer, err = person(ctx, "restorer",
		rbacv1.PolicyRule{APIGroups: []string{""}, Verbs: all, Resources: []string{"namespaces"}},
		rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Verbs: []string{"restore"}, Resources: []string{"hierarchies"}},
	)
	if err != nil {
		return err
	}
	reporter, err = person(ctx, "reporter",
		rbacv1.PolicyRule{APIGroups: []string{"", widgets.Group}, Verbs: []string{"get", "patch", "update"},
			Resources: []string{"persistentvolumeclaims/status", "resourcequotas/status", "widgets/status"}},
	)
	if err != nil {
		return err
	}
	if err := cp.Apply(ctx, []*unstructured.Unstructured{widgetDefinition()}); err != nil {
		return err
	}
	objects, err := cp.Render(ctx, "../../../artifacts/policies")
	if err != nil {
		return err
	}
	if err := cp.Apply(ctx, objects); err != nil {
		return err
	}
	return waitUntilEffective(ctx)
}

// waitUntilEffective returns when kube-apiserver has noticed every policy: each refuses, or changes, what it should.
func waitUntilEffective(ctx context.Context) error {
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	probes := map[string]func() bool{
		"widgets": func() bool {
			_, err := admin.dynamic.Resource(widgets).Namespace("people").Create(ctx, widget("people", "probe", copyOf("acme")), dry)
			return refusedByPolicy(err)
		},
		"config maps": func() bool {
			_, err := admin.CoreV1().ConfigMaps("people").Create(ctx, configMap("people", "probe", copyOf("acme")), dry)
			return refusedByPolicy(err)
		},
		"exceptions": func() bool {
			_, err := admin.CoreV1().ConfigMaps("people").Create(ctx, configMap("people", "probe", annotation(hnc.AnnotationAll, "x")), dry)
			return apierrors.IsInvalid(err)
		},
		"tree labels": func() bool {
			_, err := alice.CoreV1().Namespaces().Create(ctx, namespace("probe", label(hnc.LabelOrphaned, "true")), dry)
			return refusedByPolicy(err)
		},
		"included namespace, validation": func() bool {
			_, err := admin.CoreV1().Namespaces().Create(ctx, namespace("probe", label(hnc.LabelIncludedNamespace, "no")), dry)
			return refusedByPolicy(err)
		},
		"included namespace, mutation": func() bool {
			created, err := admin.CoreV1().Namespaces().Create(ctx, namespace("probe"), dry)
			return err == nil && created.Labels[hnc.LabelIncludedNamespace] == "true"
		},
	}
	for name, probe := range map[string]*corev1.ResourceQuota{
		"names of resource quotas":  resourceQuota("people", hnc.ResourceQuotaName, "1"),
		"labels of resource quotas": resourceQuota("people", "probe", "1", label(hnc.LabelQuota, "true")),
	} {
		probes[name] = func() bool {
			_, err := admin.CoreV1().ResourceQuotas("people").Create(ctx, probe, dry)
			return refusedByPolicy(err)
		}
	}
	for name, effective := range probes {
		err := wait.PollUntilContextTimeout(ctx, interval, deadline, true, func(context.Context) (bool, error) { return effective(), nil })
		if err != nil {
			return fmt.Errorf("the policy on %s does not take effect: %w", name, err)
		}
	}
	// The deletion of a namespace needs one that exists.
	sub := namespace("probe", annotation(hnc.AnnotationSubnamespaceOf, "acme"))
	if _, err := admin.CoreV1().Namespaces().Create(ctx, sub, metav1.CreateOptions{}); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, interval, deadline, true, func(context.Context) (bool, error) {
		return refusedByPolicy(admin.CoreV1().Namespaces().Delete(ctx, "probe", metav1.DeleteOptions{DryRun: dry.DryRun})), nil
	})
	if err != nil {
		return fmt.Errorf("the policy on the deletion of namespaces does not take effect: %w", err)
	}
	return propagator.CoreV1().Namespaces().Delete(ctx, "probe", metav1.DeleteOptions{})
}

func refusedByPolicy(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy")
}

// person returns the clients of a new ServiceAccount that has these permissions in the whole cluster.
func person(ctx context.Context, name string, rules ...rbacv1.PolicyRule) (user, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "people", Name: name}}
	if _, err := admin.CoreV1().ServiceAccounts(account.Namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "test-" + name}, Rules: rules}
	if _, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: name}},
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	config, _, err := cp.ServiceAccount(ctx, account.Namespace, name)
	if err != nil {
		return user{}, err
	}
	return clients(config)
}

func clients(config *rest.Config) (user, error) {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return user{}, err
	}
	untyped, err := dynamic.NewForConfig(config)
	return user{Interface: typed, dynamic: untyped}, err
}
