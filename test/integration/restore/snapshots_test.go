package restore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var all = []string{"blue", "red", "leaf", "sub"}

func namespace(t *testing.T, name string) {
	t.Helper()
	if _, err := root.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// source creates a RoleBinding of the namespace's name in it.
func source(t *testing.T, namespace string) {
	t.Helper()
	if _, err := root.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func setParent(t *testing.T, name, parent string) {
	t.Helper()
	client := root.HNC.HncV1beta1().Hierarchies(name)
	patch := []byte(fmt.Sprintf(`{"spec":{"parent":%q}}`, parent))
	_, err := client.Patch(t.Context(), hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(t.Context(), &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// eventuallyBelow waits until a namespace has the parent in its hierarchy, the label of it, and its RoleBinding, and
// not that of the other one.
func eventuallyBelow(t *testing.T, name, parent, other string) {
	t.Helper()
	suite.Eventually(t, name+" is below "+parent, func() error {
		h, err := root.HNC.HncV1beta1().Hierarchies(name).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if h.Spec.Parent != parent || ns.Labels[hnc.TreeLabel(parent)] != "1" {
			return fmt.Errorf("parent %q, labels %v", h.Spec.Parent, ns.Labels)
		}
		if _, err := root.RbacV1().RoleBindings(name).Get(t.Context(), parent, metav1.GetOptions{}); err != nil {
			return err
		}
		if _, err := root.RbacV1().RoleBindings(name).Get(t.Context(), other, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the copy from %s: %w", other, err)
		}
		return nil
	})
}

// quota creates a quota of the namespace's name in it.
func quota(t *testing.T, namespace string) {
	t.Helper()
	q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: namespace}}
	q.Spec.Hard = hnc.ResourceList{corev1.ResourceServices: resource.MustParse("7")}
	if _, err := root.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace).Create(t.Context(), q, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// eventuallyHeld waits until the namespaces that quotas limit are these.
func eventuallyHeld(t *testing.T, names ...string) {
	t.Helper()
	suite.EventuallyEqual(t, "the namespaces with ResourceQuotas", fmt.Sprint(names), func() string {
		list, err := root.CoreV1().ResourceQuotas("").List(t.Context(), metav1.ListOptions{LabelSelector: hnc.LabelQuota})
		if err != nil {
			return err.Error()
		}
		var held []string
		for i := range list.Items {
			held = append(held, list.Items[i].Namespace)
		}
		slices.Sort(held)
		return fmt.Sprint(held)
	})
}

// eventuallyRecorded waits until another checkpoint is recorded than before, and returns it.
func eventuallyRecorded(t *testing.T, before string) string {
	t.Helper()
	var now string
	suite.Eventually(t, "a new checkpoint", func() error {
		if now = checkpoint(t); now == before || strings.Contains(now, " ") {
			return errors.New(now)
		}
		return nil
	})
	return now
}

// TestSnapshots restores a snapshot of the hierarchies below a newer cluster, and then one of the cluster below newer
// hierarchies.
func TestSnapshots(t *testing.T) {
	fresh(t)
	leafBelowBlue(t)
	ours, kubernetes := data()
	stopAll(t)
	oldOurs, oldKubernetes := backup(t, ours), backup(t, kubernetes)
	startKubernetes(t)
	startOurs(t)
	first := checkpoint(t)
	setParent(t, "leaf", "red")
	if _, err := root.HNC.HncV1beta1().Subnamespaces("blue").Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "sub"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyBelow(t, "leaf", "red", "blue")
	eventuallyBelow(t, "sub", "blue", "red")
	eventuallyHeld(t, "blue", "sub")
	eventuallyRecorded(t, first)
	before := uids(t, all...)

	t.Run("older hierarchies", func(t *testing.T) {
		stop(t, propagator.Name, apiServer.Name)
		restore(t, ours, oldOurs)
		untouched := suite.Footprint(t, root)
		startOurs(t)
		eventuallyPaused(t, hnc.ReasonHierarchiesOlder)
		doctorLists(t, "delete rolebindings.rbac.authorization.k8s.io: 2 (leaf/red, sub/blue)", "create subnamespaces.hnc.x-k8s.io: 1 (blue/sub)")
		unwritten(t, untouched)
		tenantsCannotResume(t)
		if gone := lost(before, uids(t, all...)); len(gone) > 0 {
			t.Fatalf("deleted during the pause: %v", gone)
		}
		resume(t, hnc.TrustNamespaces)
		eventuallyBelow(t, "leaf", "red", "blue")
		eventuallyBelow(t, "sub", "blue", "red")
		suite.Eventually(t, "the Subnamespace is there", func() error {
			s, err := root.HNC.HncV1beta1().Subnamespaces("blue").Get(t.Context(), "sub", metav1.GetOptions{})
			if err == nil && s.Status.State != v1beta1.SubnamespaceOk {
				err = errors.New(string(s.Status.State))
			}
			return err
		})
		after := uids(t, all...)
		t.Logf("namespaces and RoleBindings: %d before, %d after, %d of them lost", len(before), len(after), len(lost(before, after)))
		if gone := lost(before, after); len(gone) > 0 || len(after) != len(before) {
			t.Fatalf("deleted: %v; %d objects before, %d after", gone, len(before), len(after))
		}
	})
	t.Run("older cluster", func(t *testing.T) {
		stopAll(t)
		restore(t, kubernetes, oldKubernetes)
		startKubernetes(t)
		untouched := suite.Footprint(t, root)
		startOurs(t)
		eventuallyPaused(t, hnc.ReasonClusterOlder)
		doctorLists(t, "delete rolebindings.rbac.authorization.k8s.io: 1 (leaf/blue)", "create namespaces: 1 (sub)")
		unwritten(t, untouched)
		resume(t, hnc.TrustHierarchies)
		eventuallyBelow(t, "leaf", "red", "blue")
		eventuallyBelow(t, "sub", "blue", "red")
		// The copy in leaf and everything about sub is made again; all that was in the backup and still applies has
		// stayed.
		after := uids(t, all...)
		if gone := lost(before, after); len(gone) != 3 || gone[0] != "leaf/red" || len(after) != len(before) {
			t.Fatalf("not the same: %v; %d objects before, %d after", gone, len(before), len(after))
		}
	})
	t.Run("both of one time", func(t *testing.T) {
		stopAll(t)
		restore(t, kubernetes, oldKubernetes)
		restore(t, ours, oldOurs)
		startKubernetes(t)
		startOurs(t)
		eventuallyBelow(t, "leaf", "blue", "red")
		if _, err := root.CoreV1().Namespaces().Get(t.Context(), "sub", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a sub-namespace that the backup does not contain: %v", err)
		}
		setParent(t, "leaf", "red")
		subnamespace(t, "blue", "sub")
		eventuallyBelow(t, "leaf", "red", "blue")
		if reason := paused(t); reason != "" {
			t.Errorf("paused: %s", reason)
		}
	})
}

// doctorLists expects that doctor reports the pause and lists writes.
func doctorLists(t *testing.T, lines ...string) {
	t.Helper()
	out, code := run(t, "", "kubectl-hns", "doctor", "--quiet")
	if code != 3 {
		t.Errorf("exit code %d", code)
	}
	for _, line := range lines {
		if !strings.Contains(out, line) {
			t.Errorf("doctor does not list %q:\n%s", line, out)
		}
	}
}

// tenantsCannotResume expects that an admin of namespaces cannot end the pause.
func tenantsCannotResume(t *testing.T) {
	t.Helper()
	config, err := cp.User("tenant")
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := suite.NewUser("tenant", config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.RbacV1().RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "tenant"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"metadata":{"annotations":{"` + hnc.AnnotationTrust + `":"hierarchies"}}}`)
	if _, err := tenant.CoreV1().Namespaces().Patch(t.Context(), hnc.SystemNamespace, types.MergePatchType, patch, metav1.PatchOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant annotates %s: %v", hnc.SystemNamespace, err)
	}
	status := []byte(`{"status":{"checkpoint":null}}`)
	if _, err := tenant.HNC.HncV1beta1().HNCConfigurations().Patch(t.Context(), hnc.ConfigurationName, types.MergePatchType, status, metav1.PatchOptions{}, "status"); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant changes the checkpoint: %v", err)
	}
}
