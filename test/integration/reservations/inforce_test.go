package reservations

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// warnings are what a user has been warned of.
type warnings struct {
	mu  sync.Mutex
	all []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

// take returns the warnings since the last call.
func (w *warnings) take() (all string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, w.all = strings.Join(w.all, "\n"), nil
	return all
}

// editor is a user with the role edit.
type editor struct {
	suite.User
	warnings *warnings
}

// editorOf returns a user with the role edit in the first namespace, when the user has it in all of them.
func editorOf(t *testing.T, name string, namespaces ...string) editor {
	t.Helper()
	config, err := cp.User(name)
	if err != nil {
		t.Fatal(err)
	}
	e := editor{warnings: &warnings{}}
	config.WarningHandler = e.warnings
	if e.User, err = suite.NewUser(name, config); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
	}
	if _, err := admin.RbacV1().RoleBindings(namespaces[0]).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range namespaces {
		suite.Must(t, "an editor of "+namespace, func() error {
			_, err := e.CoreV1().Services(namespace).List(t.Context(), metav1.ListOptions{})
			return err
		})
	}
	return e
}

// service creates a Service that needs no address.
func (e editor) service(t *testing.T, namespace, name string) error {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}
	_, err := e.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{})
	return err
}

// quota creates a quota of one resource, or changes it to that, and returns the warnings.
func (e editor) quota(t *testing.T, namespace, name, resourceName string, hard int64, dryRun ...string) (warnings string) {
	t.Helper()
	e.warnings.take()
	client := e.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace)
	limits := hnc.ResourceList{corev1.ResourceName(resourceName): *resource.NewQuantity(hard, resource.DecimalSI)}
	q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: limits}}
	_, err := client.Create(t.Context(), q, metav1.CreateOptions{DryRun: dryRun})
	if apierrors.IsAlreadyExists(err) {
		patch, encodeErr := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec/hard", "value": limits}})
		if encodeErr != nil {
			t.Fatal(encodeErr)
		}
		_, err = client.Patch(t.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{DryRun: dryRun})
	}
	if err != nil {
		t.Fatal(err)
	}
	return e.warnings.take()
}

// A quota is in force in the whole subtree when the request that has written it returns, and counts what was there
// before.
func TestQuotaIsInForceWhenItsWriteReturns(t *testing.T) {
	for name, test := range map[string]struct {
		// existing is the number of Services before the quota.
		existing int
		// before is the resource that the quota limits before, "" if it is created, and others that of another quota.
		before, others string
	}{
		"new":            {0, "", ""},
		"use":            {1, "", ""},
		"lowered":        {1, "services", ""},
		"extended":       {0, "secrets", ""},
		"extended-use":   {1, "secrets", ""},
		"beside-another": {1, "", "secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			root, namespaces := family(t, "returns-"+name+"-", 3)
			namespaces = append(namespaces, root)
			e := editorOf(t, "returns-"+name, append([]string{root}, namespaces...)...)
			for i := range test.existing {
				if err := e.service(t, namespaces[0], fmt.Sprintf("existing-%d", i)); err != nil {
					t.Fatal(err)
				}
				awaitCount(t, namespaces[0], i+1)
			}
			if test.others != "" {
				e.quota(t, root, "others", test.others, 5)
			}
			if test.before != "" {
				e.quota(t, root, "q", test.before, 5)
			}
			began := time.Now()
			if warnings := e.quota(t, root, "q", "services", 1); warnings != "" {
				t.Error(warnings)
			}
			t.Logf("in force after %s", time.Since(began).Round(time.Millisecond))

			var created atomic.Int32
			var writing sync.WaitGroup
			for w := range 8 {
				writing.Go(func() {
					for i := range 4 {
						if e.service(t, namespaces[(w+i)%len(namespaces)], fmt.Sprintf("s-%d-%d", w, i)) == nil {
							created.Add(1)
						}
					}
				})
			}
			writing.Wait()
			if n := int(created.Load()) + test.existing; n > 1 {
				t.Errorf("%d Services, %d of them created below a quota of 1", n, created.Load())
			}
		})
	}
}

// A moved namespace is below the quotas of its new ancestors when the move returns: what its users have created
// meanwhile counts, and they create no more.
func TestQuotasAreInForceInWhatHasMovedWhenTheMoveReturns(t *testing.T) {
	root, _ := family(t, "moves-in-", 0)
	from, below := family(t, "moves-from-", 2)
	e := editorOf(t, "moves-in-editor", from, below[0], below[1])
	owner := administrator(t, "moves-in-owner", root, from)
	limiter := editorOf(t, "moves-in-limiter", root)
	if warnings := limiter.quota(t, root, "q", "services", 2); warnings != "" {
		t.Error(warnings)
	}
	var created atomic.Int32
	stop := make(chan struct{})
	var writing sync.WaitGroup
	for w := range 6 {
		writing.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if e.service(t, below[w%2], fmt.Sprintf("s-%d-%d", w, i)) == nil {
					created.Add(1)
				}
			}
		})
	}
	err := move(t, owner, from, root, map[string]string{hnc.AnnotationExceedQuotas: "true"})
	after := created.Load()
	close(stop)
	writing.Wait()
	if err != nil && !exceeded(err) {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("the Services were too many before the move began")
	}
	// Those that were being created when the move returned may have been admitted before.
	if n := created.Load() - after; n > 6 {
		t.Errorf("%d Services were created after the move had returned", n)
	}
	suite.Eventually(t, "the use exceeds the limit", func() error {
		q, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas(root).Get(t.Context(), "q", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if used := q.Status.Used[corev1.ResourceServices]; used.Value() < 2 {
			return fmt.Errorf("%s of %d Services are used", used.String(), created.Load())
		}
		return nil
	})
	if err := e.service(t, below[0], "one-more"); !apierrors.IsForbidden(err) {
		t.Errorf("one more Service than the quota allows: %v", err)
	}
}

// awaitCount returns when kube-controller-manager has as many Services of a namespace in its cache. It counts what it
// has there.
func awaitCount(t *testing.T, namespace string, services int) {
	t.Helper()
	client := admin.CoreV1().ResourceQuotas(namespace)
	probe := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceServices: resource.MustParse("9")}},
	}
	suite.Eventually(t, "counting in "+namespace, func() error {
		rq, err := client.Create(t.Context(), probe, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		defer func() {
			if err := client.Delete(t.Context(), rq.Name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}()
		suite.Eventually(t, "a count in "+namespace, func() error {
			if rq, err = client.Get(t.Context(), rq.Name, metav1.GetOptions{}); err == nil && rq.Status.Used == nil {
				err = fmt.Errorf("nothing was counted yet")
			}
			return err
		})
		if used := rq.Status.Used[corev1.ResourceServices]; used.Value() != int64(services) {
			return fmt.Errorf("%s Services were counted, want %d", used.String(), services)
		}
		return nil
	})
}

// family creates a root and n namespaces below it, each the parent of the next one.
func family(t *testing.T, prefix string, n int) (root string, namespaces []string) {
	t.Helper()
	root = prefix + "root"
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: root}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	parent := root
	for i := range n {
		name := namespaceName(prefix, i)
		sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := admin.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(), sub, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		namespaces, parent = append(namespaces, name), name
	}
	return root, namespaces
}

// Without a propagator, a quota is stored, and the request returns with a warning. What changes no limit does not wait.
func TestQuotaThatIsNotInForceInTimeIsStoredWithAWarning(t *testing.T) {
	root, _ := family(t, "late-", 0)
	e := editorOf(t, "late", root)
	propagator := controlplane.Server{Name: "hns-propagator"}
	if err := cp.StopProcess(t.Context(), propagator.Name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !cp.Running(propagator.Name) {
			if err := suite.Start(context.WithoutCancel(t.Context()), cp, installation, propagator); err != nil {
				t.Error(err)
			}
		}
	})
	if warnings := e.quota(t, root, "q", "services", 1, metav1.DryRunAll); warnings != "" {
		t.Errorf("a dry run waits: %s", warnings)
	}
	if warnings := e.quota(t, root, "subnamespaces", "count/subnamespaces.hnc.x-k8s.io", 1); warnings != "" {
		t.Errorf("a limit that needs no ResourceQuota waits: %s", warnings)
	}
	// While two requests of a user wait, more of them return soon, and others wait.
	eve := editorOf(t, "late-eve", root)
	var waiting sync.WaitGroup
	const requests, slots = 6, 2
	for i := range requests {
		waiting.Go(func() {
			q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("eve-%d", i)}, Spec: v1beta1.HierarchicalResourceQuotaSpec{
				Hard: hnc.ResourceList{corev1.ResourceSecrets: resource.MustParse("9")}}}
			if _, err := eve.HNC.HncV1beta1().HierarchicalResourceQuotas(root).Create(t.Context(), q, metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	const want = `not all limits are in force yet: it takes longer than this request waits; see the conditions of hierarchicalresourcequotas.hnc.x-k8s.io "q" in namespace "late-root"`
	if warnings := e.quota(t, root, "q", "services", 1); !strings.Contains(warnings, want) {
		t.Errorf("warnings %q, want %s", warnings, want)
	}
	waiting.Wait()
	all := eve.warnings.take()
	if busy, late := strings.Count(all, "as many waiting requests"), strings.Count(all, "longer than this request waits"); busy != requests-slots || late != slots {
		t.Errorf("%d requests found no slot, and %d waited, want %d and %d:\n%s", busy, late, requests-slots, slots, all)
	}
	if err := suite.Start(t.Context(), cp, installation, propagator); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the limit", func() error {
		err := e.service(t, root, "one")
		if err == nil || apierrors.IsAlreadyExists(err) {
			if err = e.service(t, root, "two"); err == nil {
				err = e.CoreV1().Services(root).Delete(t.Context(), "two", metav1.DeleteOptions{})
				return fmt.Errorf("a second Service was created: %w", err)
			}
		}
		if apierrors.IsForbidden(err) {
			return nil
		}
		return err
	})
	// The propagator reports, so a change of nothing but metadata has nothing to wait for.
	e.warnings.take()
	if _, err := e.HNC.HncV1beta1().HierarchicalResourceQuotas(root).Patch(t.Context(), "q", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if warnings := e.warnings.take(); warnings != "" {
		t.Errorf("a label: %s", warnings)
	}
}
