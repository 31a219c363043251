package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// earlierPrefix is that of what is stored without encryption.
const earlierPrefix = "/earlier"

// An earlier version has stored what this one rejects. Both servers start, and report it without obeying it; it can be
// updated in other fields, and deleted.
func TestWhatAnEarlierVersionAcceptedIsNoObstacle(t *testing.T) {
	root, err := suite.NewUser("root", cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Another test begins with another store.
		if err := suite.ForgetStore(context.WithoutCancel(t.Context()), root); err != nil {
			t.Error(err)
		}
	})
	servers := suite.Servers()
	stopAfterwards(t, servers[1].Name, servers[0].Name)
	servers[0].SharedEtcd = true
	servers[0].Args = append(servers[0].Args, "--etcd-prefix="+earlierPrefix)
	installation, err := suite.Install(t.Context(), cp, suite.Artifacts, servers...)
	if err != nil {
		t.Fatal(err)
	}
	if err := suite.SetRules(t.Context(), root.HNC, &v1beta1.Rules{ManagedNamespaceLabels: []string{`example\.com/.*`}}); err != nil {
		t.Fatal(err)
	}
	e := earlier{cp, root, alice(t, cp, root)}
	long := "L" + strings.Repeat("?", 300000)
	e.world(t, long)

	for _, server := range servers {
		if err := cp.StopProcess(t.Context(), server.Name); err != nil {
			t.Fatal(err)
		}
	}
	e.corrupt(t)
	impersonated := rest.CopyConfig(cp.RESTConfig())
	impersonated.Impersonate = rest.ImpersonationConfig{UserName: hnc.PropagatorUser}
	propagator, err := suite.NewUser("propagator", impersonated)
	if err != nil {
		t.Fatal(err)
	}
	role(t, propagator, metav1.ObjectMeta{Namespace: "child", Name: long, Labels: map[string]string{hnc.LabelInheritedFrom: "top"}})
	for _, server := range servers {
		if err := suite.Start(t.Context(), cp, installation, server); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("other objects are propagated", func(t *testing.T) {
		role(t, root, metav1.ObjectMeta{Namespace: "top", Name: "after"})
		e.eventuallyRoles(t, "after before")
	})
	t.Run("a version", e.version)
	t.Run("a quota", e.quota)
	t.Run("a hierarchy", e.hierarchy)
	t.Run("a selector", e.selector)
	t.Run("a name", func(t *testing.T) {
		e.eventuallyReports(t, hnc.ReasonNamesTooLong)
		if err := e.alice.RbacV1().Roles("top").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		e.eventuallyRoles(t, "")
	})
}

// earlier is a cluster with an admin of the namespaces top and child.
type earlier struct {
	cp          *controlplane.ControlPlane
	root, alice suite.User
}

func alice(t *testing.T, cp *controlplane.ControlPlane, root suite.User) suite.User {
	t.Helper()
	config, err := cp.User("alice")
	if err != nil {
		t.Fatal(err)
	}
	user, err := suite.NewUser("alice", config)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"top", "child"} {
		if _, err := root.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := root.RbacV1().RoleBindings(name).Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "alice-" + name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "alice"}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return user
}

func role(t *testing.T, u suite.User, meta metav1.ObjectMeta) {
	t.Helper()
	if _, err := u.RbacV1().Roles(meta.Namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("%.1000v", err)
	}
}

// world creates the objects that change, and sources that no limit kept out.
func (e earlier) world(t *testing.T, long string) {
	t.Helper()
	role(t, e.root, metav1.ObjectMeta{Namespace: "top", Name: long})
	role(t, e.root, metav1.ObjectMeta{Namespace: "top", Name: "before"})
	// Outside trees, nothing validates it.
	role(t, e.root, metav1.ObjectMeta{Namespace: "top", Name: "selected", Annotations: map[string]string{hnc.AnnotationTreeSelect: strings.Repeat("!a,", 5000) + "!a"}})
	for name, parent := range map[string]string{"top": "", "child": "top"} {
		h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}
		suite.Eventually(t, "the hierarchy of "+name, func() error {
			_, err := e.alice.HNC.HncV1beta1().Hierarchies(name).Create(t.Context(), h, metav1.CreateOptions{})
			return err
		})
	}
	q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: v1beta1.HierarchicalResourceQuotaSpec{
		Hard: hnc.ResourceList{"pods": resource.MustParse("5"), "services": resource.MustParse("2")},
	}}
	if _, err := e.alice.HNC.HncV1beta1().HierarchicalResourceQuotas("top").Create(t.Context(), q, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.createSync(t)
	e.eventuallyRoles(t, "before")
}

// corrupt stores what earlier versions accepted.
func (e earlier) corrupt(t *testing.T) {
	t.Helper()
	e.storeAsBeta(t)
	client := etcd(t, e.cp)
	change := func(key string, f func(metadata, spec map[string]any)) {
		t.Helper()
		key = earlierPrefix + "/hnc.x-k8s.io/" + key
		var object map[string]any
		if err := json.Unmarshal(stored(t, e.cp, key), &object); err != nil {
			t.Fatal(err)
		}
		if object["spec"] == nil {
			object["spec"] = map[string]any{}
		}
		f(object["metadata"].(map[string]any), object["spec"].(map[string]any))
		value, err := json.Marshal(object)
		if err == nil {
			_, err = client.Put(t.Context(), key, string(value))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change("hierarchicalresourcequotas/top/q", func(_, spec map[string]any) { spec["hard"].(map[string]any)["pods"] = "1e40000000" })
	change("hierarchies/top/hierarchy", func(metadata, spec map[string]any) {
		var managed []any
		for i := range 7000 {
			managed = append(managed, map[string]any{"key": fmt.Sprintf("example.com/%s-%04d", strings.Repeat("l", 40), i), "value": "x"})
		}
		var finalizers []any
		for i := range 40 {
			finalizers = append(finalizers, fmt.Sprintf("example.com/hold-%d", i))
		}
		labels := map[string]any{}
		for i := range 100 {
			labels[fmt.Sprintf("label-%d", i)] = "x"
		}
		spec["labels"], metadata["finalizers"], metadata["labels"] = managed, finalizers, labels
	})
}

func (e earlier) quota(t *testing.T) {
	client := e.alice.HNC.HncV1beta1().HierarchicalResourceQuotas("top")
	enforced := func(reason, hard string) {
		t.Helper()
		suite.EventuallyEqual(t, "what is in force", reason+" "+hard, func() string {
			q, err := client.Get(t.Context(), "q", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			c := meta.FindStatusCondition(q.Status.Conditions, hnc.ConditionReady)
			if c == nil || c.ObservedGeneration != q.Generation {
				return "no condition"
			}
			rq, err := e.root.CoreV1().ResourceQuotas("child").Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			pods, services := rq.Spec.Hard[corev1.ResourcePods], rq.Spec.Hard[corev1.ResourceServices]
			return fmt.Sprintf("%s %s pods and %s services", c.Reason, pods.String(), services.String())
		})
	}
	enforced(hnc.ReasonQuotaLimitsIgnored, "0 pods and 2 services")
	patch := func(patch string) error {
		_, err := client.Patch(t.Context(), "q", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	if err := patch(`{"metadata": {"labels": {"a": "b"}}}`); err != nil {
		t.Errorf("a label: %.1000v", err)
	}
	if err := patch(`{"spec": {"hard": {"services": "3"}}}`); err != nil {
		t.Errorf("another limit: %.1000v", err)
	}
	enforced(hnc.ReasonQuotaLimitsIgnored, "0 pods and 3 services")
	if err := patch(`{"spec": {"hard": {"pods": "1e20"}}}`); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.hard[pods]") {
		t.Errorf("another number that cannot be counted: %.1000v", err)
	}
	if err := patch(`{"spec": {"hard": {"pods": "5"}}}`); err != nil {
		t.Errorf("the limit itself: %.1000v", err)
	}
	enforced(hnc.ReasonQuotaReserved, "5 pods and 3 services")
	if err := client.Delete(t.Context(), "q", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func (e earlier) hierarchy(t *testing.T) {
	client := e.alice.HNC.HncV1beta1().Hierarchies("top")
	e.eventuallyReports(t, hnc.ReasonMetadataTooLarge)
	patch := func(patch string) error {
		_, err := client.Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	for what, change := range map[string]string{
		"another field": `{"spec": {"allowCascadingDeletion": true}}`,
		"an annotation": `{"metadata": {"annotations": {"a": "b"}}}`,
		"fewer labels":  `{"metadata": {"labels": {"label-0": null}}}`,
	} {
		if err := patch(change); err != nil {
			t.Errorf("%s: %.1000v", what, err)
		}
	}
	for want, change := range map[string]string{
		"metadata.labels: Too many: 101": `{"metadata": {"labels": {"label-0": "x", "one": "more"}}}`,
		"spec.labels: Too many":          `{"spec": {"labels": [` + strings.Repeat(`{"key": "example.com/a", "value": "b"},`, 300) + `{"key": "example.com/a", "value": "b"}]}}`,
	} {
		if err := patch(change); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %.1000v, want %s", err, want)
		}
	}
	if err := patch(`{"spec": {"labels": [{"key": "example.com/a", "value": "b"}]}}`); err != nil {
		t.Errorf("fewer managed labels: %.1000v", err)
	}
	suite.Eventually(t, "the managed labels of the child", func() error {
		ns, err := e.root.CoreV1().Namespaces().Get(t.Context(), "child", metav1.GetOptions{})
		if err == nil && (ns.Labels["example.com/a"] != "b" || len(ns.Labels) > 20) {
			err = fmt.Errorf("%d labels", len(ns.Labels))
		}
		return err
	})
	if err := client.Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}); err != nil {
		t.Errorf("deletion: %.1000v", err)
	}
	if err := patch(`{"metadata": {"finalizers": null}}`); err != nil {
		t.Errorf("the finalizers: %.1000v", err)
	}
}

func (e earlier) selector(t *testing.T) {
	client := e.alice.RbacV1().Roles("top")
	if _, err := client.Patch(t.Context(), "selected", types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("a label: %.1000v", err)
	}
	longer := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, hnc.AnnotationTreeSelect, strings.Repeat("!b,", 5000)+"!b")
	if _, err := client.Patch(t.Context(), "selected", types.MergePatchType, longer, metav1.PatchOptions{}); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		t.Errorf("another selector: %.1000v", err)
	}
	suite.Eventually(t, "the event", func() error {
		events, err := e.root.CoreV1().Events("top").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=selected"})
		if err == nil && len(events.Items) == 0 {
			err = fmt.Errorf("none")
		}
		return err
	})
	if err := client.Delete(t.Context(), "selected", metav1.DeleteOptions{}); err != nil {
		t.Errorf("deletion: %.1000v", err)
	}
}

// eventuallyRoles waits until the Roles of the child are exactly these, besides those of the cluster.
func (e earlier) eventuallyRoles(t *testing.T, want string) {
	t.Helper()
	suite.EventuallyEqual(t, "the Roles of the child", want, func() string {
		list, err := e.root.RbacV1().Roles("child").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		var got []string
		for i := range list.Items {
			got = append(got, names.Shorten(list.Items[i].Name))
		}
		return strings.Join(got, " ")
	})
}

// eventuallyReports waits until the hierarchy of top has a condition with a reason.
func (e earlier) eventuallyReports(t *testing.T, reason string) {
	t.Helper()
	suite.Eventually(t, "the hierarchy reports "+reason, func() error {
		h, err := e.alice.HNC.HncV1beta1().Hierarchies("top").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var got []string
		for _, c := range h.Status.Details() {
			if c.Reason == reason {
				return nil
			}
			got = append(got, c.Reason)
		}
		return fmt.Errorf("got %v", got)
	})
}
