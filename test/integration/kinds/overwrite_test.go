package kinds

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// move gives a namespace a parent. Without dry it is done.
func move(t *testing.T, who user, name, parent string, dry ...string) error {
	t.Helper()
	patch := fmt.Sprintf(`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":%q}}`, parent)
	force := true
	_, err := who.HNC.HncV1beta1().Hierarchies(name).Patch(t.Context(), hnc.Singleton, types.ApplyPatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: "test", Force: &force, DryRun: dry})
	return err
}

// eventuallyRefused returns when a move is refused, which takes the server to have seen the objects; then it says so
// without dry-run as well.
func eventuallyRefused(t *testing.T, who user, name, parent string, says ...string) {
	t.Helper()
	suite.EventuallyEqual(t, "the move is refused", "true", func() string { return boolean(apierrors.IsConflict(move(t, who, name, parent, metav1.DryRunAll))) })
	err := move(t, who, name, parent)
	if !apierrors.IsConflict(err) {
		t.Fatalf("got %v, want Conflict", err)
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal does not say %q: %v", want, err)
		}
	}
}

func eventuallyMoved(t *testing.T, name, parent string) {
	t.Helper()
	var err error
	suite.EventuallyEqual(t, "the move is made", "true", func() string { err = move(t, alice, name, parent); return boolean(err == nil) })
}

func remove(t *testing.T, resource schema.GroupVersionResource, namespace, name string) {
	t.Helper()
	if err := alice.Dynamic.Resource(resource).Namespace(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestH11AMoveThatWouldOverwriteIsRefused(t *testing.T) {
	configure(t, "configmaps Propagate")
	root, mid, leaf := tree(t, "h11")
	namespace(t, "h11-above", "")
	namespace(t, "h11-new", "h11-above")
	put(t, configMaps, object("ConfigMap", "h11-above", "a", "above"))
	put(t, configMaps, object("ConfigMap", "h11-new", "b", "new"))
	put(t, configMaps, object("ConfigMap", root, "other", "local"))
	put(t, configMaps, object("ConfigMap", leaf, "a", "local"))
	put(t, configMaps, object("ConfigMap", mid, "b", "local"))
	eventuallyPresent(t, configMaps, leaf, "a=local b=local<"+mid+" other=local<"+root)
	eventuallyRefused(t, alice, root, "h11-new", "Namespace \""+leaf+"\": a (/v1, Kind=ConfigMap)", "Namespace \""+mid+"\": b (/v1, Kind=ConfigMap)")
	if err := move(t, alice, root, "h11-new"); strings.Contains(err.Error(), "other") || strings.Contains(err.Error(), `"`+leaf+`": b`) {
		t.Errorf("it names what is not overwritten: %v", err)
	}
	// Nobody's objects are in the way in another part of the tree.
	if err := move(t, alice, mid, ""); err != nil {
		t.Fatal(err)
	}
	eventuallyMoved(t, root, "h11-new")
	eventuallyPresent(t, configMaps, root, "a=above<h11-above b=new<h11-new other=local")
	for namespace, name := range map[string]string{leaf: "a", mid: "b"} {
		remove(t, configMaps, namespace, name)
	}
	eventuallyMoved(t, mid, root)
	eventuallyPresent(t, configMaps, leaf, "a=above<h11-above b=new<h11-new other=local<"+root)
}

func TestH11NamesAreTheListersOnly(t *testing.T) {
	namespace(t, "h11-hidden", "")
	namespace(t, "h11-hiding", "")
	for _, ns := range []string{"h11-hidden", "h11-hiding"} {
		for _, name := range []string{"secret-name-1", "secret-name-2"} {
			role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}}
			if _, err := admin.RbacV1().Roles(ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventuallyRefused(t, carol, "h11-hidden", "h11-hiding", "objects that you may not list, of: roles.rbac.authorization.k8s.io")
	if err := move(t, carol, "h11-hidden", "h11-hiding"); strings.Contains(err.Error(), "secret-name") {
		t.Errorf("a name that carol may not know: %v", err)
	}
}

func TestH11LooksAtTheLabelsAfterTheMove(t *testing.T) {
	configure(t, "configmaps Propagate")
	namespace(t, "h11-labels", "")
	namespace(t, "h11-labelled", "")
	put(t, configMaps, object("ConfigMap", "h11-labels", "only-below", "above", hnc.AnnotationTreeSelect+"=h11-labels"))
	put(t, configMaps, object("ConfigMap", "h11-labels", "only-elsewhere", "above", hnc.AnnotationSelect+"=!"+hnc.TreeLabel("h11-labels")))
	put(t, configMaps, object("ConfigMap", "h11-labels", "nowhere", "above", hnc.AnnotationNone+"=true"))
	for _, name := range []string{"only-elsewhere", "nowhere", "only-below"} {
		put(t, configMaps, object("ConfigMap", "h11-labelled", name, "local"))
	}
	eventuallyRefused(t, alice, "h11-labelled", "h11-labels", `"h11-labelled": only-below (`)
	if err := move(t, alice, "h11-labelled", "h11-labels"); strings.Contains(err.Error(), "elsewhere") || strings.Contains(err.Error(), "nowhere") {
		t.Errorf("it names what is not overwritten: %v", err)
	}
	remove(t, configMaps, "h11-labelled", "only-below")
	eventuallyMoved(t, "h11-labelled", "h11-labels")
	eventuallyPresent(t, configMaps, "h11-labelled", "nowhere=local only-below=above<h11-labels only-elsewhere=local")
}

func TestH11AnObjectThatIsKeptIsNoCollision(t *testing.T) {
	configure(t, "configmaps Propagate Keep", "secrets AllowPropagate")
	namespace(t, "h11-keeping", "")
	namespace(t, "h11-kept", "")
	for _, ns := range []string{"h11-keeping", "h11-kept"} {
		put(t, configMaps, object("ConfigMap", ns, "a", ns))
		put(t, secrets, object("Secret", ns, "a", ns))
	}
	put(t, secrets, object("Secret", "h11-keeping", "asked", "above", hnc.AnnotationAll+"=true"))
	put(t, secrets, object("Secret", "h11-kept", "asked", "local"))
	eventuallyRefused(t, alice, "h11-kept", "h11-keeping", `"h11-kept": asked (/v1, Kind=Secret)`)
	remove(t, secrets, "h11-kept", "asked")
	eventuallyMoved(t, "h11-kept", "h11-keeping")
	eventuallyPresent(t, secrets, "h11-kept", "a=h11-kept asked=above<h11-keeping")
	eventuallyPresent(t, configMaps, "h11-kept", "a=h11-kept")
	// It would be in the way of other tests.
	remove(t, configMaps, "h11-kept", "a")
}

func TestK7AKindWhoseObjectsWouldBeOverwrittenIsRefused(t *testing.T) {
	root, mid, leaf := tree(t, "k7")
	put(t, configMaps, object("ConfigMap", root, "a", "root"))
	put(t, configMaps, object("ConfigMap", leaf, "a", "leaf"))
	put(t, configMaps, object("ConfigMap", mid, "b", "mid"))
	reader, err := person(t.Context(), "k7-operator",
		rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"hncconfigurations"}, Verbs: []string{"*"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}})
	if err != nil {
		t.Fatal(err)
	}
	configuration(t)
	set := func(u user, entry string, dry ...string) error {
		c := configuration(t).DeepCopy()
		c.Spec.Resources = resources(entry)
		_, err := u.HNC.HncV1beta1().HNCConfigurations().Update(t.Context(), c, metav1.UpdateOptions{DryRun: dry})
		return err
	}
	line := fmt.Sprintf("Object %q in namespace %q would overwrite the one in %q", "a", root, leaf)
	suite.Must(t, "the permission to configure", func() error {
		if err := set(reader, "networkpolicies.networking.k8s.io Ignore", metav1.DryRunAll); !apierrors.IsConflict(err) {
			return err
		}
		return nil
	})
	var refused error
	suite.EventuallyEqual(t, "the kind is refused with names", "true", func() string {
		refused = set(reader, "configmaps Propagate")
		return boolean(apierrors.IsConflict(refused) && strings.Contains(refused.Error(), line))
	})
	if strings.Contains(refused.Error(), `"b"`) {
		t.Errorf("it names what is not overwritten: %v", refused)
	}
	if err := set(reader, "configmaps Propagate", metav1.DryRunAll); !apierrors.IsConflict(err) {
		t.Errorf("a dry run: %v", err)
	}
	// Who may not list them learns neither how many there are nor where.
	suite.EventuallyEqual(t, "the kind is refused without names", "true", func() string {
		refused = set(operator, "configmaps Propagate")
		return boolean(apierrors.IsConflict(refused) && strings.HasSuffix(refused.Error(), ":\nobjects that you may not list, of: configmaps"))
	})
	if strings.Contains(refused.Error(), `"a"`) || strings.Contains(refused.Error(), leaf) {
		t.Errorf("a name that the operator may not know: %v", refused)
	}
	// What is not overwritten does no harm: objects that are kept, or don't ask to be copied.
	for _, entry := range []string{"configmaps Propagate Keep", "configmaps AllowPropagate", "configmaps Remove"} {
		if err := setResources(t.Context(), resources(entry)); err != nil {
			t.Errorf("%s: %v", entry, err)
		}
	}
	if err := set(operator, "configmaps Propagate"); !apierrors.IsConflict(err) {
		t.Errorf("from Remove to Propagate: %v", err)
	}
	remove(t, configMaps, leaf, "a")
	configure(t, "configmaps Propagate")
	eventuallyPresent(t, configMaps, leaf, "a=root<"+root+" b=mid<"+mid)
}

func TestH11AnAllowedOverrideIsNoCollision(t *testing.T) {
	configure(t, "configmaps Propagate")
	namespace(t, "h11-allowing", "")
	namespace(t, "h11-overriding", "")
	put(t, configMaps, object("ConfigMap", "h11-allowing", "a", "above", hnc.AnnotationAllowOverride+"=true"))
	put(t, configMaps, object("ConfigMap", "h11-allowing", "b", "above"))
	put(t, configMaps, object("ConfigMap", "h11-overriding", "a", "local", hnc.AnnotationOverride+"=true"))
	put(t, configMaps, object("ConfigMap", "h11-overriding", "b", "local", hnc.AnnotationOverride+"=true"))
	eventuallyRefused(t, alice, "h11-overriding", "h11-allowing", `"h11-overriding": b (`)
	remove(t, configMaps, "h11-overriding", "b")
	eventuallyMoved(t, "h11-overriding", "h11-allowing")
	eventuallyPresent(t, configMaps, "h11-overriding", "a=local b=above<h11-allowing")
}

func TestH11AndK7HoldForWhatAHierarchySays(t *testing.T) {
	root, mid, leaf := tree(t, "k7-tree")
	namespace(t, "h11-said", "")
	letCarol(t, root)
	for _, ns := range []string{root, mid, leaf, "h11-said"} {
		put(t, configMaps, object("ConfigMap", ns, "a", ns))
	}
	var refused error
	suite.EventuallyEqual(t, "what the hierarchy says is refused", "true", func() string {
		refused = say(t.Context(), carol, mid, "configmaps Propagate")
		// Carol may not list them.
		return boolean(apierrors.IsConflict(refused) && strings.HasSuffix(refused.Error(), ":\nobjects that you may not list, of: configmaps"))
	})
	// Only what is below is overwritten.
	remove(t, configMaps, leaf, "a")
	suite.EventuallyEqual(t, "the hierarchy says it", "<nil>", func() string { return fmt.Sprint(say(t.Context(), carol, mid, "configmaps Propagate")) })
	eventuallyPresent(t, configMaps, leaf, "a="+mid+"<"+mid)
	eventuallyRefused(t, alice, "h11-said", leaf, `"h11-said": a (`)
	// Above the hierarchy nothing is propagated.
	eventuallyMoved(t, "h11-said", root)
	eventuallyPresent(t, configMaps, "h11-said", "a=h11-said")
	// They would be in the way of other tests.
	for _, ns := range []string{"h11-said", mid} {
		remove(t, configMaps, ns, "a")
	}
}
