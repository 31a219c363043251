package kinds

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestModePropagateCase5ANetworkPolicy(t *testing.T) {
	configure(t, "networkpolicies.networking.k8s.io Propagate")
	root, mid, leaf := tree(t, "netpol")
	put(t, networkPolicies, object("NetworkPolicy", root, "deny", "1"))
	put(t, networkPolicies, object("NetworkPolicy", leaf, "own", "1"))
	eventuallyPresent(t, networkPolicies, mid, "deny=1<"+root)
	eventuallyPresent(t, networkPolicies, leaf, "deny=1<"+root+" own=1")

	put(t, networkPolicies, object("NetworkPolicy", root, "deny", "2"))
	eventuallyPresent(t, networkPolicies, leaf, "deny=2<"+root+" own=1")
	// A copy is nobody's to change, whatever permissions one has.
	suite.EventuallyEqual(t, "a change of a copy is refused", "true", func() string {
		return boolean(apierrors.IsForbidden(patch(t, networkPolicies, leaf, "deny", `{"spec":{"podSelector":{"matchLabels":{"value":"mine"}}}}`)))
	})
	eventuallyPresent(t, networkPolicies, leaf, "deny=2<"+root+" own=1")
	// A new sub-namespace is ready when it has them.
	s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "netpol-sub"}}
	if _, err := alice.HNC.HncV1beta1().Subnamespaces(leaf).Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, want := present(t, networkPolicies, "netpol-sub"), "deny=2<"+root+" own=1<"+leaf; got != want {
		t.Errorf("the new sub-namespace has %q, want %q", got, want)
	}
	// What is set above is true below, and the one above all.
	put(t, networkPolicies, object("NetworkPolicy", root, "own", "roots"))
	eventuallyPresent(t, networkPolicies, leaf, "deny=2<"+root+" own=roots<"+root)
	for _, name := range []string{"deny", "own"} {
		if err := alice.Dynamic.Resource(networkPolicies).Namespace(root).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventuallyPresent(t, networkPolicies, leaf, "")
	eventuallyPresent(t, networkPolicies, "netpol-sub", "")
}

func TestModeRemoveConfigMaps(t *testing.T) {
	configure(t, "configmaps Propagate")
	root, mid, leaf := tree(t, "remove")
	put(t, configMaps, object("ConfigMap", root, "a", "1"))
	put(t, configMaps, object("ConfigMap", leaf, "own", "1"))
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root+" own=1")
	configure(t, "configmaps Remove")
	eventuallyPresent(t, configMaps, mid, "")
	eventuallyPresent(t, configMaps, leaf, "own=1")
	// A local object is left alone, and the source stays.
	put(t, configMaps, object("ConfigMap", leaf, "a", "local"))
	put(t, configMaps, object("ConfigMap", root, "a", "2"))
	eventuallyStatus(t, "configmaps", "/v1 Remove 0/-")
	eventuallyPresent(t, configMaps, leaf, "a=local own=1")
	eventuallyPresent(t, configMaps, root, "a=2")
	// It would be in the way of propagating them again.
	remove(t, configMaps, leaf, "a")
}

func TestCase6ModeIgnoreAndBack(t *testing.T) {
	configure(t, "configmaps Propagate", "networkpolicies.networking.k8s.io Propagate")
	root, _, leaf := tree(t, "ignore")
	put(t, configMaps, object("ConfigMap", root, "a", "1"))
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	configure(t, "configmaps Ignore", "networkpolicies.networking.k8s.io Propagate")
	eventuallyStatus(t, "configmaps", "/v1 Ignore -/-")
	put(t, configMaps, object("ConfigMap", root, "a", "2"))
	put(t, configMaps, object("ConfigMap", root, "b", "1"))
	put(t, networkPolicies, object("NetworkPolicy", root, "flush", "1"))
	eventuallyPresent(t, networkPolicies, leaf, "flush=1<"+root)
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	// Without its entry it is the same.
	configure(t, "networkpolicies.networking.k8s.io Propagate")
	eventuallyStatus(t, "configmaps", "not active")
	put(t, networkPolicies, object("NetworkPolicy", root, "flush", "2"))
	eventuallyPresent(t, networkPolicies, leaf, "flush=2<"+root)
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	configure(t, "configmaps AllowPropagate")
	eventuallyPresent(t, configMaps, leaf, "")
	configure(t, "configmaps Propagate")
	eventuallyPresent(t, configMaps, leaf, "a=2<"+root+" b=1<"+root)
}

func TestKeepALocalObject(t *testing.T) {
	configure(t, "configmaps Propagate Keep")
	root, mid, leaf := tree(t, "keep")
	put(t, configMaps, object("ConfigMap", mid, "a", "local"))
	put(t, configMaps, object("ConfigMap", root, "a", "1"))
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	eventuallyPresent(t, configMaps, mid, "a=local")
	for _, ns := range []string{root, mid} {
		suite.EventuallyEqual(t, "event in "+ns, hnc.EventKept, func() string { return reason(t, ns, "a") })
	}
	configure(t, "configmaps Propagate")
	eventuallyPresent(t, configMaps, mid, "a=1<"+root)
}

// reason returns the reason of an event about an object, "" if there is none.
func reason(t *testing.T, namespace, name string) string {
	t.Helper()
	events, err := admin.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	for _, e := range events.Items {
		if e.InvolvedObject.Name == name && e.Source.Component == hnc.GroupName {
			return e.Reason
		}
	}
	return ""
}

func TestTheNumbersAreRightAfterNamespacesAreDeleted(t *testing.T) {
	root, mid, leaf := tree(t, "numbers")
	configure(t, "networkpolicies.networking.k8s.io Propagate")
	suite.EventuallyEqual(t, "it is active", "false", func() string { return boolean(status(t, "networkpolicies") == "not active") })
	count := func() (int, int) {
		for _, r := range configuration(t).Status.Resources {
			if r.Resource == "networkpolicies" && r.NumPropagatedObjects != nil && r.NumSourceObjects != nil {
				return int(*r.NumPropagatedObjects), int(*r.NumSourceObjects)
			}
		}
		return -1, -1
	}
	// Earlier tests have left some, which are propagated again.
	suite.EventuallyEqual(t, "the numbers are known", "true", func() string { c, _ := count(); return boolean(c >= 0) })
	numbers := suite.Steady(t, "the numbers", 2*time.Second, func(a, b [2]int) bool { return a == b && a[0] >= 0 }, func() [2]int {
		c, s := count()
		return [2]int{c, s}
	})
	before, sources := numbers[0], numbers[1]
	expect := func(copies, more int) {
		t.Helper()
		suite.EventuallyEqual(t, "numbers", "true", func() string { c, s := count(); return boolean(c == before+copies && s == sources+more) })
	}
	put(t, networkPolicies, object("NetworkPolicy", root, "a", "1"))
	put(t, networkPolicies, object("NetworkPolicy", mid, "b", "1"))
	expect(3, 2)
	if err := alice.CoreV1().Namespaces().Delete(t.Context(), leaf, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(1, 2)
	if err := alice.CoreV1().Namespaces().Delete(t.Context(), mid, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(0, 1)
	// Namespaces that are excluded don't count.
	excluded := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "numbers", Namespace: "kube-public"}}
	if _, err := alice.CoreV1().ConfigMaps(excluded.Namespace).Create(t.Context(), excluded, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	put(t, networkPolicies, object("NetworkPolicy", "kube-public", "numbers", "1"))
	put(t, networkPolicies, object("NetworkPolicy", root, "c", "1"))
	expect(0, 2)
}

func boolean(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func TestARestartWritesNothingThatIsRight(t *testing.T) {
	configure(t, "configmaps Propagate", "secrets AllowPropagate")
	root, _, leaf := tree(t, "restart")
	put(t, configMaps, object("ConfigMap", root, "a", "1"))
	put(t, secrets, object("Secret", root, "s", "1", hnc.AnnotationTreeSelect+"="+leaf))
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	eventuallyPresent(t, secrets, leaf, "s=1<"+root)
	versions := func() string {
		c, err := admin.CoreV1().ConfigMaps(leaf).Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := admin.CoreV1().Secrets(leaf).Get(t.Context(), "s", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c.ResourceVersion + " " + s.ResourceVersion
	}
	before := versions()
	if err := cp.Kill(t.Context(), "hns-propagator"); err != nil {
		t.Fatal(err)
	}
	// Meanwhile there is a change.
	put(t, configMaps, object("ConfigMap", root, "b", "1"))
	if _, err := cp.StartServer(t.Context(), installation, propagator()); err != nil {
		t.Fatal(err)
	}
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root+" b=1<"+root)
	put(t, secrets, object("Secret", root, "t", "1", hnc.AnnotationAll+"=true"))
	eventuallyPresent(t, secrets, leaf, "s=1<"+root+" t=1<"+root)
	if after := versions(); after != before {
		t.Errorf("written again: versions %s, before %s", after, before)
	}
}
