package kinds

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// release asks that a copy becomes an ordinary object, and returns the reason that the propagator reports.
func (u user) release(t *testing.T, namespace, resource, name, source string) (reason string, err error) {
	t.Helper()
	client := u.HNC.HncV1alpha3().CopyReleases(namespace)
	r, err := client.Create(t.Context(), &v1alpha3.CopyRelease{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "release-"},
		Spec:       v1alpha3.CopyReleaseSpec{Resource: resource, Name: name, Source: source},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	suite.EventuallyEqual(t, "the result is reported", "true", func() string {
		now, err := client.Get(t.Context(), r.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		condition := meta.FindStatusCondition(now.Status.Conditions, hnc.ConditionReady)
		if condition != nil {
			reason = condition.Reason
		}
		return boolean(condition != nil)
	})
	return reason, nil
}

func TestACopyOfAnIgnoredKindCanBeReleased(t *testing.T) {
	releases := rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"copyreleases"}, Verbs: []string{"create", "get"}}
	maps := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "update", "delete"}}
	owner, err := person(t.Context(), "release-owner", releases, maps,
		rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"hierarchies"}, Verbs: []string{"update"}})
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := person(t.Context(), "release-tenant", releases, maps)
	if err != nil {
		t.Fatal(err)
	}
	root, mid, leaf := tree(t, "release")
	put(t, configMaps, object("ConfigMap", root, "settings", "above"))
	configure(t, "configmaps Propagate")
	eventuallyPresent(t, configMaps, leaf, "settings=above<"+root)
	suite.Must(t, "the owner's permissions", func() error {
		_, err := owner.release(t, leaf, "configmaps", "settings", root)
		if apierrors.IsConflict(err) && strings.Contains(err.Error(), "is Propagate") {
			return nil
		}
		return err
	})
	if err := setResources(t.Context(), resources("configmaps Ignore")); err != nil {
		t.Fatal(err)
	}
	if err := observed(t.Context()); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "the tenant is refused for not being admin of the source", "true", func() string {
		_, err := tenant.release(t, leaf, "configmaps", "settings", root)
		return boolean(apierrors.IsForbidden(err) && strings.Contains(err.Error(), `namespace "`+root+`", which is the source of the copy`))
	})
	var reason string
	suite.EventuallyEqual(t, "a release that names another source", hnc.ReasonNoCopy, func() string {
		reason, err = owner.release(t, leaf, "configmaps", "settings", mid)
		if err != nil {
			return err.Error()
		}
		return reason
	})
	for _, name := range []string{"settings/status", "..", strings.Repeat("x", 300)} {
		if reason, err := owner.release(t, leaf, "configmaps", name, root); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.name") {
			t.Errorf("a name that nothing can have: got %q, %v", reason, err)
		}
	}
	if reason, err = owner.release(t, leaf, "configmaps", "settings", root); err != nil || reason != hnc.ReasonReleased {
		t.Fatalf("got %q, %v", reason, err)
	}
	if got := present(t, configMaps, leaf); got != "settings=above" {
		t.Errorf("got %s", got)
	}
	if err := tenant.CoreV1().ConfigMaps(leaf).Delete(t.Context(), "settings", metav1.DeleteOptions{}); err != nil {
		t.Errorf("it is not the tenant's: %v", err)
	}
	suite.EventuallyEqual(t, "an event names who has released it", "true", func() string {
		events, err := admin.CoreV1().Events(leaf).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, e := range events.Items {
			if e.Reason == hnc.EventReleased && strings.Contains(e.Message, "release-owner") {
				return "true"
			}
		}
		return "false"
	})
	if got := present(t, configMaps, mid); got != "settings=above<"+root {
		t.Errorf("another copy: got %s", got)
	}
}

// Each CopyRelease is work for the propagator, so a tree has few of them.
func TestReleasesOfATreeAreBounded(t *testing.T) {
	root, mid, _ := tree(t, "releases")
	tenant, err := person(t.Context(), "releases-tenant",
		rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"copyreleases"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"hierarchies"}, Verbs: []string{"update"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"update"}})
	if err != nil {
		t.Fatal(err)
	}
	client := tenant.HNC.HncV1alpha3().RESTClient()
	create := func() error {
		r := &v1alpha3.CopyRelease{ObjectMeta: metav1.ObjectMeta{GenerateName: "release-"}, Spec: v1alpha3.CopyReleaseSpec{Resource: "configmaps", Name: "none", Source: root}}
		return client.Post().Namespace(mid).Resource("copyreleases").Body(r).MaxRetries(0).Do(t.Context()).Error()
	}
	suite.Must(t, "the tenant's permissions", create)
	// Nothing keeps one that is deleted: it has no expiry any more.
	releases, foreground := admin.HNC.HncV1alpha3().CopyReleases(mid), metav1.DeletePropagationForeground
	held := &v1alpha3.CopyRelease{
		ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/held"}}, Spec: v1alpha3.CopyReleaseSpec{Resource: "configmaps", Name: "none", Source: root},
	}
	if _, err := releases.Create(t.Context(), held, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := releases.Delete(t.Context(), "held", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		t.Error(err)
	}
	if kept, err := releases.Get(t.Context(), "held", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("deleted: got %v, %v", kept.Finalizers, err)
	}
	for range 300 {
		if err = create(); err != nil {
			break
		}
	}
	if !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "copyreleases, the most that it may have") {
		t.Errorf("any number of CopyReleases: %v", err)
	}
}
