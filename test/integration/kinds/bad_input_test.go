package kinds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// events returns those of ours about an object for a reason.
func events(t *testing.T, namespace, name, reason string) []corev1.Event {
	t.Helper()
	list, err := admin.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var found []corev1.Event
	for _, e := range list.Items {
		if e.InvolvedObject.Name == name && e.Reason == reason && e.Source.Component == hnc.GroupName && e.Type == corev1.EventTypeWarning {
			found = append(found, e)
		}
	}
	return found
}

// summary returns the events of a namespace, for a failure's message.
func summary(t *testing.T, namespace string) string {
	t.Helper()
	list, err := admin.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, e := range list.Items {
		lines = append(lines, fmt.Sprintf("%s %s %s %s x%d: %.200s", e.Source.Component, e.Type, e.Reason, e.InvolvedObject.Name, e.Count, e.Message))
	}
	return strings.Join(lines, "\n")
}

// eventuallyReportedOnce waits until something was reported of an object several times, by a message with all these
// parts, and checks that there is one event nevertheless.
func eventuallyReportedOnce(t *testing.T, namespace, name, reason string, parts ...string) {
	t.Helper()
	reported := func() []corev1.Event {
		return slices.DeleteFunc(events(t, namespace, name, reason), func(e corev1.Event) bool {
			return slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(e.Message, part) })
		})
	}
	suite.EventuallyEqual(t, reason+" on "+namespace+"/"+name+" is counted", "true", func() string {
		all := reported()
		if len(all) > 0 && all[0].Count > 1 {
			return "true"
		}
		return fmt.Sprintf("%d of these events:\n%s", len(all), summary(t, namespace))
	})
	if all := reported(); len(all) != 1 {
		t.Errorf("%d events %s on %s/%s, want one that counts:\n%s", len(all), reason, namespace, name, summary(t, namespace))
	}
}

func TestBad12EventCannotPropagateObject(t *testing.T) {
	configure(t, "configmaps Propagate")
	root, mid, leaf := tree(t, "finalizers")
	held := object("ConfigMap", root, "held", "1")
	held.SetFinalizers([]string{"example.com/hold"})
	put(t, configMaps, held)
	t.Cleanup(func() {
		_, _ = alice.Dynamic.Resource(configMaps).Namespace(root).Patch(context.Background(), "held", "application/merge-patch+json",
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	})
	put(t, configMaps, object("ConfigMap", root, "plain", "1"))
	eventuallyPresent(t, configMaps, leaf, "plain=1<"+root)
	eventuallyPresent(t, configMaps, mid, "plain=1<"+root)
	suite.EventuallyEqual(t, "events on the source", "1", func() string { return fmt.Sprint(len(events(t, root, "held", hnc.EventCannotPropagate))) })
	if got := events(t, root, "held", hnc.EventCannotPropagate)[0].Message; !strings.Contains(got, "finalizers") {
		t.Errorf("%q", got)
	}
}

func TestBad13ARoleBindingWhoseRoleRefChanges(t *testing.T) {
	root, mid, leaf := tree(t, "roleref")
	bind := func(role string) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "people"},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "people"}}}
	}
	for _, name := range []string{"readers", "writers"} {
		if _, err := alice.RbacV1().Roles(root).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	client := alice.RbacV1().RoleBindings(root)
	if _, err := client.Create(t.Context(), bind("readers"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	refers := func(namespace string) func() string {
		return func() string {
			b, err := admin.RbacV1().RoleBindings(namespace).Get(t.Context(), "people", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			return b.RoleRef.Name
		}
	}
	suite.EventuallyEqual(t, "the copy refers to", "readers", refers(leaf))
	if _, err := client.Update(t.Context(), bind("writers"), metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Fatalf("the source's roleRef can be changed: %v", err)
	}
	// Who wants another one deletes it and makes it again; the copies may still be there then.
	if err := client.Delete(t.Context(), "people", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Create(t.Context(), bind("writers"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, ns := range []string{mid, leaf} {
		suite.EventuallyEqual(t, "the copy refers to", "writers", refers(ns))
	}
	// A local one in the way has another roleRef from the start.
	if _, err := alice.RbacV1().RoleBindings(leaf).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "later"}, RoleRef: bind("locals").RoleRef}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	later := bind("writers")
	later.Name = "later"
	if _, err := client.Create(t.Context(), later, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "the one in the way refers to", "writers", func() string {
		b, err := admin.RbacV1().RoleBindings(leaf).Get(t.Context(), "later", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return b.RoleRef.Name
	})
}

// The event on both objects is BAD-16: it is repeated with each try, and counted.
func TestBad15Bad16EventCannotUpdateObject(t *testing.T) {
	root, mid, leaf := tree(t, "quota")
	allowSecrets := noSecrets(t, mid)
	configure(t, "secrets Propagate", "configmaps Propagate")
	put(t, secrets, object("Secret", root, "s", "1"))
	put(t, configMaps, object("ConfigMap", root, "c", "1"))
	// The rest of the tree goes on, below the full namespace too.
	eventuallyPresent(t, secrets, leaf, "s=1<"+root)
	eventuallyPresent(t, configMaps, mid, "c=1<"+root)
	eventuallyReportedOnce(t, mid, "s", hnc.EventCannotUpdate, `source namespace "`+root+`"`, "exceeded quota: no-secrets")
	eventuallyReportedOnce(t, root, "s", hnc.EventCannotPropagate, `destination namespace "`+mid+`"`, "exceeded quota: no-secrets")
	suite.EventuallyEqual(t, "the configuration reports it", "true", func() string {
		_, message := condition(t, hnc.ConditionOutOfSync)
		return boolean(strings.Contains(message, "exceeded quota") && strings.Contains(message, mid))
	})
	allowSecrets()
	eventuallyPresent(t, secrets, mid, "s=1<"+root)
	suite.EventuallyEqual(t, "condition", "", func() string { reason, _ := condition(t, hnc.ConditionOutOfSync); return reason })
}

// fits and tooLarge are the sizes, in bytes, between which content makes an object too large for etcd, which takes 1.5 MiB
// with the object's other fields.
const fits, tooLarge = 1_570_000, 1_573_000

// A tenant forges the managed fields of an object, until etcd takes no larger one. A copy replaces it all the
// same, because kube-apiserver repeats an update that is too large without managed fields.
func TestManagedFieldsKeepNoCopyOut(t *testing.T) {
	configure(t, "networkpolicies.networking.k8s.io Propagate")
	root, mid, leaf := tree(t, "padded")
	client := alice.Dynamic.Resource(networkPolicies).Namespace(leaf)
	forge := func(name string, size int) (kept bool) {
		t.Helper()
		u, err := client.Patch(t.Context(), name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"managedFields":[{"manager":"padding","operation":"Apply",
"apiVersion":"networking.k8s.io/v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{"f:%s":{}}}}}]}}`,
			strings.Repeat("x", size)), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(u.GetManagedFields()) > 0
	}
	pad := func(name string) {
		t.Helper()
		low, high := fits, tooLarge
		for high-low > 100 {
			if middle := (low + high) / 2; forge(name, middle) {
				low = middle
			} else {
				high = middle
			}
		}
		if !forge(name, low) {
			t.Fatal("nothing can be forged")
		}
	}
	managers := func(name string) string {
		u, err := client.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, entry := range u.GetManagedFields() {
			all = append(all, entry.Manager)
		}
		return strings.Join(all, " ")
	}
	put(t, networkPolicies, object("NetworkPolicy", root, "copied", "1"))
	eventuallyPresent(t, networkPolicies, leaf, "copied=1<"+root)
	put(t, networkPolicies, object("NetworkPolicy", leaf, "local", "9"))
	for _, name := range []string{"copied", "local"} {
		pad(name)
		if got := managers(name); got != "padding" {
			t.Fatalf("managers of %s are %s", name, got)
		}
		source := object("NetworkPolicy", root, name, "2")
		source.SetAnnotations(map[string]string{"note": strings.Repeat("x", 1000)})
		put(t, networkPolicies, source)
	}
	for _, ns := range []string{mid, leaf} {
		eventuallyPresent(t, networkPolicies, ns, "copied=2<"+root+" local=2<"+root)
	}
	for _, name := range []string{"copied", "local"} {
		if got := managers(name); strings.Contains(got, "padding") {
			t.Errorf("managers of %s are %q", name, got)
		}
	}
}

func TestBad14AnObjectThatIsTooLargeToBeCopied(t *testing.T) {
	configure(t, "networkpolicies.networking.k8s.io Propagate")
	root, mid, leaf := tree(t, "large")
	// A source that is as large as etcd takes it. Its values are counted in characters, each value in the list adding
	// two of its own.
	large := func(name string, size int) *unstructured.Unstructured {
		var values []any
		for i := 0; size > 0; i++ {
			value := fmt.Sprintf("%07d%s", i, strings.Repeat("x", 54))
			if size < 2*len(value) {
				value += "yz"[:size%2]
			}
			values = append(values, value)
			size -= len(value) + 2
		}
		u := object("NetworkPolicy", root, name, "1")
		u.Object["spec"] = map[string]any{"podSelector": map[string]any{
			"matchExpressions": []any{map[string]any{"key": "a", "operator": "In", "values": values}},
		}}
		return u
	}
	client := alice.Dynamic.Resource(networkPolicies).Namespace(root)
	low, high := fits, tooLarge
	for high-low > 100 {
		middle := (low + high) / 2
		_, err := client.Create(t.Context(), large("probe", middle), metav1.CreateOptions{})
		switch {
		case err == nil:
			low = middle
			if err := client.Delete(t.Context(), "probe", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		case strings.Contains(err.Error(), "too large"):
			high = middle
		default:
			t.Fatal(err)
		}
	}
	put(t, networkPolicies, object("NetworkPolicy", root, "small", "1"))
	if _, err := client.Create(t.Context(), large("large", low), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, ns := range []string{mid, leaf} {
		eventuallyReportedOnce(t, root, "large", hnc.EventCannotPropagate, `destination namespace "`+ns+`"`, "too large")
		eventuallyPresent(t, networkPolicies, ns, "small=1<"+root)
		eventuallyReportedOnce(t, ns, "large", hnc.EventCannotUpdate, `source namespace "`+root+`"`, "too large")
	}
	put(t, networkPolicies, object("NetworkPolicy", root, "large", "2"))
	eventuallyPresent(t, networkPolicies, leaf, "large=2<"+root+" small=1<"+root)
	suite.EventuallyEqual(t, "condition", "", func() string { reason, _ := condition(t, hnc.ConditionOutOfSync); return reason })
}
