package kinds

import (
	"context"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// letCarol gives carol the permission to say in the tree of a root what is propagated.
func letCarol(t *testing.T, root string) {
	t.Helper()
	let(t, "carol", root)
}

func let(t *testing.T, name, root string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-propagation-" + root},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "hns-propagation-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: name}},
	}
	if _, err := admin.RbacV1().RoleBindings(root).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// say makes the hierarchy of a namespace say how kinds are propagated, and creates it if there is none.
func say(ctx context.Context, who user, namespace string, entries ...string) error {
	return change(ctx, who, namespace, func(spec *v1beta1.HierarchySpec) { spec.Propagation = resources(entries...) })
}

func change(ctx context.Context, who user, namespace string, mutate func(*v1beta1.HierarchySpec)) error {
	client := who.HNC.HncV1beta1().Hierarchies(namespace)
	// The propagator may create one in between, where it has something to report.
	again := func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
	return retry.OnError(suite.Backoff, again, func() error {
		h, err := client.Get(ctx, hnc.Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			h = &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}}
			mutate(&h.Spec)
			_, err = client.Create(ctx, h, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		mutate(&h.Spec)
		_, err = client.Update(ctx, h, metav1.UpdateOptions{})
		return err
	})
}

func TestATreeHasItsOwnConfiguration(t *testing.T) {
	configure(t, "configmaps Propagate")
	root, mid, leaf := tree(t, "owntree")
	namespace(t, "owntree-other", "")
	namespace(t, "owntree-below", "owntree-other")
	letCarol(t, root)
	for _, ns := range []string{root, "owntree-other"} {
		put(t, secrets, object("Secret", ns, "top", "1"))
		put(t, configMaps, object("ConfigMap", ns, "top", "1"))
	}
	put(t, secrets, object("Secret", mid, "own", "1"))
	put(t, configMaps, object("ConfigMap", mid, "own", "1"))
	eventuallyPresent(t, configMaps, leaf, "own=1<"+mid+" top=1<"+root)

	suite.Must(t, "carol widens what is propagated", func() error { return say(t.Context(), carol, root, "secrets Propagate") })
	eventuallyPresent(t, secrets, leaf, "own=1<"+mid+" top=1<"+root)
	suite.Must(t, "and narrows it below", func() error { return say(t.Context(), carol, mid, "secret Remove", "configmaps Remove") })
	// What is above is not held back.
	eventuallyPresent(t, secrets, leaf, "top=1<"+root)
	eventuallyPresent(t, configMaps, leaf, "top=1<"+root)
	// Other trees know nothing of it, nor does the configuration.
	eventuallyPresent(t, configMaps, "owntree-below", "top=1<owntree-other")
	eventuallyPresent(t, secrets, "owntree-below", "")
	eventuallyStatus(t, "secrets", "not active")

	// A new sub-namespace is ready when it has what its tree gives it.
	s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "owntree-sub"}}
	if _, err := alice.HNC.HncV1beta1().Subnamespaces(leaf).Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, want := present(t, secrets, "owntree-sub"), "top=1<"+root; got != want {
		t.Errorf("the new sub-namespace has %q, want %q", got, want)
	}

	// A namespace that leaves the tree leaves what it gave, and what is said below goes with it: with the permission in the
	// other tree.
	move := func() error {
		return change(t.Context(), alice, mid, func(spec *v1beta1.HierarchySpec) { spec.Parent = "owntree-other" })
	}
	if err := move(); !apierrors.IsForbidden(err) {
		t.Errorf("alice moves it without the permission: %v", err)
	}
	let(t, "alice", "owntree-other")
	suite.Must(t, "alice moves it", move)
	eventuallyPresent(t, secrets, leaf, "")
	eventuallyPresent(t, configMaps, leaf, "top=1<owntree-other")
	suite.Must(t, "carol says nothing any more", func() error { return say(t.Context(), carol, root) })
	put(t, secrets, object("Secret", root, "top", "2"))
	eventuallyStatus(t, "secrets", "not active")
}

func TestAHierarchyReportsWhichKindIsMissing(t *testing.T) {
	root, _, leaf := tree(t, "missingkind")
	letCarol(t, root)
	if err := admin.Dynamic.Resource(definitions).Delete(t.Context(), "things.example.com", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	thing := definition()
	thing.SetName("things.example.com")
	thing.Object["spec"].(map[string]any)["names"] = map[string]any{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
	create := func() {
		t.Helper()
		suite.EventuallyEqual(t, "the definition", "<nil>", func() string {
			_, err := admin.Dynamic.Resource(definitions).Create(t.Context(), thing.DeepCopy(), metav1.CreateOptions{})
			return fmt.Sprint(err)
		})
	}
	create()
	suite.EventuallyEqual(t, "it is accepted", "<nil>", func() string {
		return fmt.Sprint(say(t.Context(), carol, root, "things.example.com Propagate", "configmaps Propagate"))
	})
	put(t, configMaps, object("ConfigMap", root, "a", "1"))
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	reported := func(conditionType string) func() string {
		return func() string {
			h, err := alice.HNC.HncV1beta1().Hierarchies(root).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			for _, c := range h.Status.Details() {
				if c.Type == conditionType && c.Status == metav1.ConditionTrue {
					return c.Reason
				}
			}
			return ""
		}
	}
	// The propagator has no permissions on it.
	suite.EventuallyEqual(t, "condition", hnc.ReasonUnknown, reported(hnc.ConditionOutOfSync))
	if err := admin.Dynamic.Resource(definitions).Delete(t.Context(), "things.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "condition", hnc.ReasonResourceNotFound, reported(hnc.ConditionBadConfiguration))
	// It stands in nobody's way.
	if err := say(t.Context(), carol, root, "things.example.com Propagate", "configmaps Remove"); err != nil {
		t.Error(err)
	}
	eventuallyPresent(t, configMaps, leaf, "")
	create()
	suite.EventuallyEqual(t, "condition", "", reported(hnc.ConditionBadConfiguration))
}

func TestAnOverrideOfAnInheritedObject(t *testing.T) {
	configure(t, "configmaps Propagate")
	root, mid, leaf := tree(t, "override")
	put(t, configMaps, object("ConfigMap", mid, "a", "mids", hnc.AnnotationOverride+"=true"))
	put(t, configMaps, object("ConfigMap", root, "a", "roots", hnc.AnnotationAllowOverride+"=true"))
	put(t, configMaps, object("ConfigMap", root, "b", "1"))
	eventuallyPresent(t, configMaps, leaf, "a=mids<"+mid+" b=1<"+root)
	eventuallyPresent(t, configMaps, mid, "a=mids b=1<"+root)
	// In leaf there is a copy already. It can be replaced by an object that asks for it, and by no other.
	replace := func(namespace string, annotations ...string) error {
		_, err := alice.Dynamic.Resource(configMaps).Namespace(namespace).
			Update(t.Context(), object("ConfigMap", namespace, "c", "own", annotations...), metav1.UpdateOptions{})
		return err
	}
	put(t, configMaps, object("ConfigMap", root, "c", "roots", hnc.AnnotationAllowOverride+"=true"))
	eventuallyPresent(t, configMaps, leaf, "a=mids<"+mid+" b=1<"+root+" c=roots<"+root)
	if err := replace(leaf); !apierrors.IsForbidden(err) {
		t.Errorf("replaced by any object: %v", err)
	}
	if err := replace(leaf, hnc.AnnotationOverride+"=true"); err != nil {
		t.Errorf("replaced by an override: %v", err)
	}
	put(t, configMaps, object("ConfigMap", root, "c", "new", hnc.AnnotationAllowOverride+"=true"))
	eventuallyPresent(t, configMaps, mid, "a=mids b=1<"+root+" c=new<"+root)
	eventuallyPresent(t, configMaps, leaf, "a=mids<"+mid+" b=1<"+root+" c=own")
	// Without it, the copy is there again.
	if err := alice.Dynamic.Resource(configMaps).Namespace(leaf).Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	eventuallyPresent(t, configMaps, leaf, "a=mids<"+mid+" b=1<"+root+" c=new<"+root)
	if err := alice.Dynamic.Resource(configMaps).Namespace(root).Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := patch(t, configMaps, root, "a", `{"metadata":{"annotations":null}}`); err != nil {
		t.Fatal(err)
	}
	eventuallyPresent(t, configMaps, mid, "a=roots<"+root+" b=1<"+root)
	eventuallyPresent(t, configMaps, leaf, "a=roots<"+root+" b=1<"+root)
}
