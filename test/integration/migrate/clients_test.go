package migrate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var (
	hierarchies    = schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchyconfigurations"}
	anchors        = schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "subnamespaceanchors"}
	configurations = schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hncconfigurations"}
	definitions    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	apiServices    = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// readAsOldClients lists hierarchies as clients of HNC do, all the time. Each list must be complete, from either
// server.
func readAsOldClients(t *testing.T, want int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	var problems []string
	lists := 0
	reading.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			list, err := admin.Dynamic.Resource(hierarchies).List(ctx, metav1.ListOptions{})
			switch {
			case ctx.Err() != nil:
			case err != nil:
				problems = append(problems, err.Error())
			case len(list.Items) < want:
				problems = append(problems, fmt.Sprintf("%d hierarchies", len(list.Items)))
			}
			lists++
		}, time.Duration(suite.Size(100, 20))*time.Millisecond)
	})
	return func() {
		t.Helper()
		cancel()
		reading.Wait()
		t.Logf("%d lists", lists)
		if len(problems) > 0 {
			t.Errorf("%d of %d lists failed: %s", len(problems), lists, strings.Join(problems[:min(5, len(problems))], "; "))
		}
	}
}

// rejectsOthers checks the freeze, as another user with all permissions, in both APIs.
func rejectsOthers(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	config := rest.CopyConfig(admin.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "tenant", Groups: []string{"system:masters"}}
	tenant, err := suite.NewUser("tenant", config)
	if err != nil {
		t.Fatal(err)
	}
	namespaces := tenant.CoreV1().Namespaces()
	patch := func(name, patch string) func() error {
		return func() error {
			_, err := namespaces.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		}
	}
	late := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "late"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}
	for name, write := range map[string]func() error{
		"a parent": func() error {
			_, err := tenant.Dynamic.Resource(hierarchies).Namespace("team-001").Patch(ctx, "hierarchy", types.MergePatchType, []byte(`{"spec":{"parent":"alone"}}`), metav1.PatchOptions{})
			return err
		},
		"an anchor": func() error {
			object := &unstructured.Unstructured{Object: hncObject("SubnamespaceAnchor", root, "late", nil)}
			_, err := tenant.Dynamic.Resource(anchors).Namespace(root).Create(ctx, object, metav1.CreateOptions{})
			return err
		},
		"a Subnamespace": func() error {
			_, err := tenant.HNC.HncV1beta1().Subnamespaces(root).Create(ctx, &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
			return err
		},
		"a tree label":                patch("alone", `{"metadata":{"labels":{"acme.tree.hnc.x-k8s.io/depth":"1"}}}`),
		"the removal of a tree label": patch("team-001", `{"metadata":{"labels":{"acme.tree.hnc.x-k8s.io/depth":null}}}`),
		"the annotation":              patch("alone", `{"metadata":{"annotations":{"hnc.x-k8s.io/subnamespace-of":"acme"}}}`),
		"a new sub-namespace": func() error {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "late", Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: root}}}
			_, err := namespaces.Create(ctx, ns, metav1.CreateOptions{})
			return err
		},
		"a RoleBinding that a copy might overwrite": func() error {
			_, err := tenant.RbacV1().RoleBindings("team-001").Create(ctx, late, metav1.CreateOptions{})
			return err
		},
		"a deletion": func() error { return namespaces.Delete(ctx, "team-001", metav1.DeleteOptions{}) },
	} {
		if err := write(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "are frozen while") {
			t.Errorf("%s, while frozen: %v", name, err)
		}
	}
	if err := patch("alone", `{"metadata":{"labels":{"a":"b"}}}`)(); err != nil {
		t.Errorf("an unrelated label, while frozen: %v", err)
	}
	if _, err := tenant.RbacV1().RoleBindings("kube-system").Create(ctx, late, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Errorf("a RoleBinding in no tree, while frozen: %v", err)
	}
}
