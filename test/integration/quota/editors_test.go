package quota

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
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// editorIn returns a user with the role edit in a namespace.
func editorIn(t *testing.T, name, namespace string) suite.User {
	t.Helper()
	config, err := cp.User(name)
	if err != nil {
		t.Fatal(err)
	}
	u, err := suite.NewUser(name, config)
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
	}
	if _, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return u
}

// limitAs creates a quota as a user.
func limitAs(t *testing.T, u suite.User, namespace, name string, hard corev1.ResourceList) error {
	t.Helper()
	q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(hard)}}
	_, err := u.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace).Create(t.Context(), q, metav1.CreateOptions{})
	return err
}

// propagate configures the kinds that are propagated.
func propagate(t *testing.T, resources ...v1beta1.ResourceSpec) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // It is also called when the test ends.
	client := admin.HNC.HncV1beta1().HNCConfigurations()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"resources": resources}})
	if err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "configuring kinds", func() error {
		_, err := client.Patch(ctx, hnc.ConfigurationName, types.MergePatchType, patch, metav1.PatchOptions{})
		if apierrors.IsNotFound(err) {
			c := &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: v1beta1.HNCConfigurationSpec{Resources: resources}}
			_, err = client.Create(ctx, c, metav1.CreateOptions{})
		}
		return err
	})
}

func TestQuotasOfEditorsDoNotKeepOutPolicy(t *testing.T) {
	const count = "count/secrets"
	tree(t, "policy-", "root", "team<root", "leaf<team")
	eve := editorIn(t, "policy-eve", "policy-team")
	for i, count := range hnc.PolicyCounts {
		suite.Eventually(t, "rejecting "+string(count), func() error {
			err := limitAs(t, eve, "policy-team", fmt.Sprint(i), limits(string(count)+"=0"))
			if !apierrors.IsInvalid(err) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
	// The limit is older than the mode of the kind, so it is in force at first.
	if err := limitAs(t, eve, "policy-team", "q", limits(count+"=0 pods=5")); err != nil {
		t.Fatal(err)
	}
	limit(t, "policy-root", "above", count+"=10")
	wantHard(t, "policy-leaf", count+"=0 pods=5")
	propagate(t, v1beta1.ResourceSpec{Resource: "secrets", Mode: v1beta1.Propagate})
	t.Cleanup(func() { propagate(t) })
	createSecrets(t, "policy-root", "deny-all")
	arrives := func(namespace, name string) {
		t.Helper()
		suite.Eventually(t, name+" in "+namespace, func() error {
			_, err := admin.CoreV1().Secrets(namespace).Get(t.Context(), name, metav1.GetOptions{})
			return err
		})
	}
	arrives("policy-team", "deny-all")
	arrives("policy-leaf", "deny-all")
	// A limit in the root counts copies and what tenants create below it, so it would keep out policy, too.
	wantHard(t, "policy-leaf", "pods=5")
	suite.EventuallyEqual(t, "the condition of the quota", "LimitsIgnored pods=5", func() string {
		q := get(t, "policy-team", "q")
		if c := meta.FindStatusCondition(q.Status.Conditions, hnc.ConditionReady); c != nil && strings.Contains(c.Message, count) {
			return c.Reason + " " + text(q.Status.Hard)
		}
		return fmt.Sprint(q.Status.Conditions)
	})
	// A new sub-namespace has it, too, and the present count keeps out nothing either.
	if err := limitAs(t, eve, "policy-team", "present", limits(count+"=1")); err != nil {
		t.Fatal(err)
	}
	suite.Must(t, "creating a sub-namespace", func() error {
		_, err := eve.HNC.HncV1beta1().Subnamespaces("policy-team").Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "policy-new"}}, metav1.CreateOptions{})
		return err
	})
	arrives("policy-new", "deny-all")
	createSecrets(t, "policy-root", "later")
	for _, namespace := range []string{"policy-team", "policy-leaf", "policy-new"} {
		arrives(namespace, "later")
	}
}

// A tenant who fills a limit of the root would keep out copies that arrive later.
func TestTenantsDoNotKeepOutPolicyByFillingALimitOfTheRoot(t *testing.T) {
	const count = "count/secrets"
	tree(t, "filled-", "root", "team<root")
	limit(t, "filled-root", "q", count+"=2 pods=5")
	wantHard(t, "filled-team", count+"=2 pods=5")
	eve := editorIn(t, "filled-eve", "filled-team")
	fill := func(name string) error {
		_, err := eve.CoreV1().Secrets("filled-team").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	suite.Eventually(t, "filling the limit", func() error {
		for i := range 2 {
			if err := fill(fmt.Sprintf("eve-%d", i)); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		return nil
	})
	suite.Eventually(t, "rejecting more, while the kind is not propagated", func() error {
		if err := fill("eve-2"); !apierrors.IsForbidden(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	propagate(t, v1beta1.ResourceSpec{Resource: "secrets", Mode: v1beta1.AllowPropagate})
	t.Cleanup(func() { propagate(t) })
	wantHard(t, "filled-team", "pods=5")
	policy := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "deny-all", Annotations: map[string]string{hnc.AnnotationAll: "true"}}}
	if _, err := admin.CoreV1().Secrets("filled-root").Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the copy", func() error {
		_, err := admin.CoreV1().Secrets("filled-team").Get(t.Context(), "deny-all", metav1.GetOptions{})
		return err
	})
}

func TestWhoSetsALimitThatIsIgnoredIsWarned(t *testing.T) {
	tree(t, "warned-", "team")
	propagate(t, v1beta1.ResourceSpec{Resource: "secrets", Mode: v1beta1.Propagate})
	t.Cleanup(func() { propagate(t) })
	eve := editorIn(t, "warned-eve", "warned-team")
	var got warnings
	config := rest.CopyConfig(eve.Config)
	config.WarningHandler = &got
	user, err := suite.NewUser("warned-eve", config)
	if err != nil {
		t.Fatal(err)
	}
	client := user.HNC.HncV1beta1().HierarchicalResourceQuotas("warned-team")
	const want = "spec.hard[count/secrets]: not in force: such objects are propagated from the namespace of the quota or its ancestors"
	suite.Eventually(t, "a warning on creation", func() error {
		got = nil
		q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(limits("count/secrets=1 pods=5"))}}
		if _, err := client.Create(t.Context(), q, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil || len(got) != 1 || !strings.Contains(got[0], want) {
			return fmt.Errorf("got %q, %w", got, err)
		}
		return nil
	})
	if err := limitAs(t, eve, "warned-team", "q", limits("pods=5")); err != nil {
		t.Fatal(err)
	}
	got = nil
	patch := []byte(`{"spec": {"hard": {"count/secrets": "1"}}}`)
	if _, err := client.Patch(t.Context(), "q", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil || len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("on an update: got %q, %v", got, err)
	}
	got = nil
	if _, err := client.Patch(t.Context(), "q", types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}}`), metav1.PatchOptions{}); err != nil || len(got) != 0 {
		t.Errorf("on an update of something else: got %q, %v", got, err)
	}
}

// warnings collects the warnings to a client.
type warnings []string

func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }

func TestNumbersThatCannotBeCountedAreRejected(t *testing.T) {
	tree(t, "numbers-", "team")
	eve := editorIn(t, "numbers-eve", "numbers-team")
	for _, number := range []string{"1e40000000", "1e2147483647", "9223372036854775808"} {
		suite.Eventually(t, fmt.Sprintf("rejecting %.30s", number), func() error {
			err := limitAs(t, eve, "numbers-team", "q", corev1.ResourceList{"limits.cpu": resource.MustParse(number)})
			if !apierrors.IsInvalid(err) || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "spec.hard[limits.cpu]: Invalid value: must be a number between 0 and 9223372036854775807") {
				return fmt.Errorf("got %.1000v", err) //nolint:errorlint // the message may be huge
			}
			return nil
		})
	}
}

func TestManyLargeQuotasDoNotShedLimitsFromAbove(t *testing.T) {
	tree(t, "large-", "root", "team<root", "leaf<team")
	limit(t, "large-root", "q", "services=2")
	eve := editorIn(t, "large-eve", "large-team")
	wantHard(t, "large-team", "services=2")
	refused, accepted := 0, 0
	for i := range 40 {
		hard := corev1.ResourceList{}
		for j := range 20 {
			label := strings.Repeat("d", 60)
			hard[corev1.ResourceName(fmt.Sprintf("requests.%s.%s.%s.a%02d%02d/x", label, label, label, i, j))] = resource.MustParse("1")
		}
		err := limitAs(t, eve, "large-team", fmt.Sprintf("q%d", i), hard)
		switch {
		case err == nil:
			accepted++
		case apierrors.IsForbidden(err) && strings.Contains(err.Error(), `all quotas in namespace "large-team" would have`):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d are accepted, %d refused", accepted, refused)
	}
	limit(t, "large-root", "q", "services=1")
	suite.EventuallyEqual(t, "the limit from above", "1", func() string {
		rq, err := admin.CoreV1().ResourceQuotas("large-leaf").Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		services := rq.Status.Hard["services"]
		return services.String()
	})
}
