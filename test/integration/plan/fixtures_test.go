package plan

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/preview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// warnings collects the warnings that a user gets.
type warnings struct {
	mu   sync.Mutex
	list []string
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

// take returns the warnings since it was called last.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

func namespace(t *testing.T, name, parent string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	suite.Must(t, "namespace "+name, func() error {
		_, err := alice.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
		return err
	})
	if parent != "" {
		suite.Must(t, "parent of "+name, func() error { return move(t, alice, name, parent) })
	}
}

func subnamespace(t *testing.T, name, parent string) {
	t.Helper()
	s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	suite.Must(t, "sub-namespace "+name, func() error {
		_, err := alice.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(), s, metav1.CreateOptions{})
		return err
	})
}

// apply applies a spec to the hierarchy of a namespace.
func apply(t *testing.T, u user, name, spec string, dry ...string) error {
	t.Helper()
	force := true
	patch := fmt.Sprintf(`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":%s}`, spec)
	_, err := u.HNC.HncV1beta1().Hierarchies(name).Patch(t.Context(), hnc.Singleton, types.ApplyPatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: "test", Force: &force, DryRun: dry})
	return err
}

func move(t *testing.T, u user, name, parent string, dry ...string) error {
	t.Helper()
	return apply(t, u, name, fmt.Sprintf(`{"parent":%q}`, parent), dry...)
}

// configure replaces the entries "resource mode [onConflict]" of the configuration, and returns when they are acted on.
func configure(t *testing.T, entries ...string) {
	t.Helper()
	if err := tryConfigure(t, entries...); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "the configuration is observed", "true", func() string {
		c, err := alice.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		ready := meta.FindStatusCondition(c.Status.Conditions, hnc.ConditionReady)
		return fmt.Sprint(ready != nil && ready.ObservedGeneration == c.Generation)
	})
}

func tryConfigure(t *testing.T, entries ...string) error {
	t.Helper()
	client := alice.HNC.HncV1beta1().HNCConfigurations()
	var err error
	suite.EventuallyEqual(t, "the configuration is written or refused", "true", func() string {
		var c *v1beta1.HNCConfiguration
		if c, err = client.Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		c.Spec.Resources = resources(entries...)
		_, err = client.Update(t.Context(), c, metav1.UpdateOptions{})
		return fmt.Sprint(!apierrors.IsConflict(err) || strings.Contains(err.Error(), "overwrite"))
	})
	return err
}

func resources(entries ...string) []v1beta1.ResourceSpec {
	var list []v1beta1.ResourceSpec
	for _, entry := range entries {
		words := append(strings.Fields(entry), "", "")
		list = append(list, v1beta1.ResourceSpec{
			Resource: words[0], Mode: v1beta1.SynchronizationMode(words[1]), OnConflict: v1beta1.ConflictPolicy(words[2]),
		})
	}
	return list
}

// ask returns the whole answer to a plan, which comes in pages of that many objects.
func ask(t *testing.T, u user, name string, spec v1alpha3.HierarchyPlanSpec, limit int32) (v1alpha3.HierarchyPlanStatus, error) {
	t.Helper()
	var all v1alpha3.HierarchyPlan
	spec.Limit = limit
	for page := 0; ; page++ {
		answer, err := u.HNC.HncV1beta1().Hierarchies(name).Plan(t.Context(), hnc.Singleton, &v1alpha3.HierarchyPlan{Spec: spec}, metav1.CreateOptions{})
		if err != nil {
			return all.Status, err
		}
		shown := 0
		for _, n := range answer.Status.Namespaces {
			shown += len(n.Objects)
		}
		if limit > 0 && shown > int(limit) {
			t.Errorf("page %d shows %d objects, the limit is %d", page, shown, limit)
		}
		status := answer.Status
		preview.Append(&all, answer)
		all.Status.Refusals, all.Status.Unknown, all.Status.Hidden, all.Status.Summary = status.Refusals, status.Unknown, status.Hidden, status.Summary
		if status.Continue == "" {
			return all.Status, nil
		}
		spec.Continue = status.Continue
	}
}

func binding(namespace, name, role string, subjects ...string) *rbacv1.RoleBinding {
	b := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
	for _, subject := range subjects {
		b.Subjects = append(b.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: subject})
	}
	return b
}
