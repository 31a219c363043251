package quota

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The status and the managed fields of a quota repeat what an editor writes into it.
func TestLongNamesOfResourcesAreRejected(t *testing.T) {
	tree(t, "long-", "team")
	eve := editorIn(t, "long-eve", "long-team")
	hard := corev1.ResourceList{}
	for i := range 40 {
		hard[corev1.ResourceName(fmt.Sprintf("a%03d.%s/%s", i, strings.Repeat(strings.Repeat("d", 59)+".", 4)[:239], strings.Repeat("n", 55)))] = resource.MustParse("1")
	}
	suite.Eventually(t, "rejecting long names", func() error {
		err := limitAs(t, eve, "long-team", "q", hard)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec: Too long: may not be more than 8192 bytes in the names of resources") {
			return fmt.Errorf("got %.1000v", err) //nolint:errorlint // the message may be huge
		}
		return nil
	})
}

// Watch caches keep what an editor has replaced. The editor of another tree writes large objects nevertheless, and the
// first one small ones.
func TestLargeObjectsOfOneTreeAreNotWrittenOften(t *testing.T) {
	tree(t, "often-", "team", "other")
	eve, ann := editorIn(t, "often-eve", "often-team"), editorIn(t, "often-ann", "often-other")
	// Attempts that conflict are not limited, so each writer has its own.
	const quotas = 8
	for i := range quotas {
		suite.Eventually(t, "a quota of an editor", func() error { return limitAs(t, eve, "often-team", fmt.Sprint("q", i), limits("pods=5")) })
	}
	suite.Eventually(t, "a small quota of an editor", func() error { return limitAs(t, eve, "often-team", "small", limits("pods=5")) })
	suite.Eventually(t, "a quota of another editor", func() error { return limitAs(t, ann, "often-other", "q", limits("pods=5")) })
	// write makes a quota large, or changes it as a large one. Clients would repeat what is answered with 429.
	write := func(ctx context.Context, u suite.User, namespace, name string, bytes int) error {
		patch := fmt.Sprintf(`{"metadata": {"annotations": {"example.com/a": "%d%s"}}}`, time.Now().UnixNano(), strings.Repeat("x", bytes))
		return u.HNC.HncV1beta1().RESTClient().Patch(types.MergePatchType).Namespace(namespace).Resource("hierarchicalresourcequotas").Name(name).
			Body([]byte(patch)).MaxRetries(0).Do(ctx).Error()
	}
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	var writers sync.WaitGroup
	var written atomic.Int64
	limited := make(chan error, 1)
	for i := range quotas {
		writers.Go(func() {
			for ctx.Err() == nil {
				err := write(ctx, eve, "often-team", fmt.Sprint("q", i), 60<<10)
				if err == nil {
					written.Add(1)
				}
				if apierrors.IsTooManyRequests(err) && strings.Contains(err.Error(), "many bytes have been written") {
					select {
					case limited <- err:
					default:
					}
					return
				}
			}
		})
	}
	writers.Wait()
	select {
	case err := <-limited:
		if seconds, ok := apierrors.SuggestsClientDelay(err); !ok || seconds == 0 {
			t.Errorf("no delay is suggested: %v", err)
		}
	default:
		// The limit of a user is 8 MiB, and a quarter of a MiB a second.
		if allowed := (8 << 20) + int64(suite.Deadline/time.Second)<<18; written.Load()*(60<<10) < allowed {
			t.Skipf("this machine writes %d large objects in %s, which is slower than the limit", written.Load(), suite.Deadline)
		}
		t.Fatal("large objects are written without a limit")
	}
	if err := write(t.Context(), ann, "often-other", "q", 60<<10); err != nil {
		t.Errorf("a large object of another tree: %v", err)
	}
	if err := write(t.Context(), eve, "often-team", "small", 1<<10); err != nil {
		t.Errorf("a small object: %v", err)
	}
}

// Each change has decisions of all trees made again. Invalid quotas change nothing, and the editor of another tree is
// not slowed down.
func TestLimitsOfOneTreeAreNotChangedOften(t *testing.T) {
	tree(t, "changes-", "team", "other")
	eve, ann := editorIn(t, "changes-eve", "changes-team"), editorIn(t, "changes-ann", "changes-other")
	// Nothing waits for such a limit to be in force.
	suite.Eventually(t, "a quota of an editor", func() error {
		return limitAs(t, eve, "changes-team", "q", limits("count/subnamespaces.hnc.x-k8s.io=5"))
	})
	suite.Eventually(t, "a quota of another editor", func() error {
		return limitAs(t, ann, "changes-other", "q", limits("count/subnamespaces.hnc.x-k8s.io=5"))
	})
	change := func(ctx context.Context, u suite.User, namespace, limit string) error {
		return u.HNC.HncV1beta1().RESTClient().Patch(types.MergePatchType).Namespace(namespace).Resource("hierarchicalresourcequotas").Name("q").
			Body(fmt.Appendf(nil, `{"spec": {"hard": {"count/subnamespaces.hnc.x-k8s.io": %q}}}`, limit)).MaxRetries(0).Do(ctx).Error()
	}
	for i := range 80 {
		if err := change(t.Context(), eve, "changes-team", fmt.Sprint(-1-i)); !apierrors.IsInvalid(err) {
			t.Fatalf("change %d to an invalid limit: %v", i, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	var writers sync.WaitGroup
	var made, limited atomic.Int64
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				err := change(ctx, eve, "changes-team", fmt.Sprint(10+w*1000+i))
				if apierrors.IsTooManyRequests(err) && strings.Contains(err.Error(), `limits in tree "changes-team" have been changed often`) {
					limited.Add(1)
					return
				}
				if err == nil {
					made.Add(1)
				}
			}
		})
	}
	writers.Wait()
	if limited.Load() < 8 {
		t.Errorf("limits were changed without a bound, %d times", made.Load())
	}
	if made.Load() < 20 {
		t.Errorf("only %d changes were made: invalid ones were counted", made.Load())
	}
	if err := change(t.Context(), ann, "changes-other", "6"); err != nil {
		t.Errorf("a limit of another tree: %v", err)
	}
}

// Lists have more levels than their objects. An object as deep as decoders accept would keep the propagator, and
// everybody else, from reading all others of its kind.
func TestObjectsAreNotTooDeepToBeListed(t *testing.T) {
	tree(t, "deep-", "team")
	eve := editorIn(t, "deep-eve", "deep-team")
	quota := func(levels int) *v1beta1.HierarchicalResourceQuota {
		fields := strings.Repeat(`{"f:a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
		return &v1beta1.HierarchicalResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("levels-", levels), ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "eve", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "hnc.x-k8s.io/v1beta1", FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(fields),
			}}},
			Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(limits("pods=5"))},
		}
	}
	quotas := eve.HNC.HncV1beta1().HierarchicalResourceQuotas("deep-team")
	suite.Eventually(t, "a quota with managed fields", func() error {
		_, err := quotas.Create(t.Context(), quota(60), metav1.CreateOptions{})
		return err
	})
	for _, levels := range []int{65, 900} {
		if _, err := quotas.Create(t.Context(), quota(levels), metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "fieldsV1") {
			t.Errorf("managed fields of %d levels: %v", levels, err)
		}
	}
	for _, levels := range []int{1_000, 9_996} {
		if _, err := quotas.Create(t.Context(), quota(levels), metav1.CreateOptions{}); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "more than 1000 levels") {
			t.Errorf("managed fields of %d levels: %v", levels, err)
		}
	}
	if _, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas("").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

// Times are decoded with any time zone and encoded in UTC. A stored one that cannot be decoded again would keep
// everybody from reading all objects of its kind, and from deleting this one.
func TestTimesOfManagedFieldsCanBeReadAgain(t *testing.T) {
	tree(t, "times-", "team")
	eve := editorIn(t, "times-eve", "times-team")
	const afterAll, beforeAll, last = "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59Z"
	body := func(kind, name, spec, time string) string {
		return fmt.Sprintf(`{"apiVersion": "hnc.x-k8s.io/v1beta1", "kind": %q, "metadata": {"name": %q, "labels": {"a": %q}, "managedFields": [{"manager": "e",
			"operation": "Update", "apiVersion": "hnc.x-k8s.io/v1beta1", "time": %q, "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {}}}]}, "spec": %s}`, kind, name, name+time[:4], time, spec)
	}
	const quota, subnamespace = "HierarchicalResourceQuota", "Subnamespace"
	const pods = `{"hard": {"pods": "5"}}`
	request := func(verb, resource string) *rest.Request {
		return eve.HNC.HncV1beta1().RESTClient().Verb(verb).Namespace("times-team").Resource(resource)
	}
	suite.Eventually(t, "a quota with the last time", func() error {
		return request("POST", "hierarchicalresourcequotas").Body([]byte(body(quota, "q", pods, last))).Do(t.Context()).Error()
	})
	// From then on, nobody else writes it.
	var stored *v1beta1.HierarchicalResourceQuota
	suite.Eventually(t, "the quota is ready", func() (err error) {
		stored, err = admin.HNC.HncV1beta1().HierarchicalResourceQuotas("times-team").Get(t.Context(), "q", metav1.GetOptions{})
		if err == nil && !meta.IsStatusConditionTrue(stored.Status.Conditions, hnc.ConditionReady) {
			err = fmt.Errorf("conditions %v", stored.Status.Conditions)
		}
		return err
	})
	entry := slices.IndexFunc(stored.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "e" })
	for _, time := range []string{afterAll, beforeAll} {
		update := strings.Replace(body(quota, "q", pods, time), `"name"`, fmt.Sprintf(`"resourceVersion": %q, "name"`, stored.ResourceVersion), 1)
		for name, write := range map[string]*rest.Request{
			"a create":      request("POST", "hierarchicalresourcequotas").Body([]byte(body(quota, "r", pods, time))),
			"a dry run":     request("POST", "hierarchicalresourcequotas").Param("dryRun", "All").Body([]byte(body(quota, "r", pods, time))),
			"another kind":  request("POST", "subnamespaces").Body([]byte(body(subnamespace, "times-sub", "{}", time))),
			"an update":     request("PUT", "hierarchicalresourcequotas").Name("q").Body([]byte(update)),
			"a merge patch": request("PATCH", "hierarchicalresourcequotas").Name("q").SetHeader("Content-Type", string(types.MergePatchType)).Body([]byte(body(quota, "q", pods, time))),
			"a JSON patch": request("PATCH", "hierarchicalresourcequotas").Name("q").SetHeader("Content-Type", string(types.JSONPatchType)).
				Body(fmt.Appendf(nil, `[{"op": "replace", "path": "/metadata/managedFields/%d/time", "value": %q}, {"op": "add", "path": "/metadata/labels/b", "value": "c"}]`, entry, time)),
		} {
			if err := write.Do(t.Context()).Error(); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "time: Invalid value") {
				t.Errorf("%s with the time %s: %v", name, time, err)
			}
		}
	}
	if _, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas("").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

// All stored objects are in memory. The propagator, which is trusted, fills a tree at once.
func TestLargeObjectsOfOneTreeAreBounded(t *testing.T) {
	tree(t, "bounded-", "team", "a<team", "b<team", "c<team", "d<team", "other")
	eve, ann := editorIn(t, "bounded-eve", "bounded-team"), editorIn(t, "bounded-ann", "bounded-other")
	suite.Eventually(t, "a quota of an editor", func() error { return limitAs(t, eve, "bounded-team", "q", limits("pods=5")) })
	suite.Eventually(t, "a quota of another editor", func() error { return limitAs(t, ann, "bounded-other", "q", limits("pods=5")) })
	config := rest.CopyConfig(admin.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: hnc.PropagatorUser, Groups: []string{user.SystemPrivilegedGroup}}
	propagator, err := suite.NewUser("propagator", config)
	if err != nil {
		t.Fatal(err)
	}
	large := map[string]string{"example.com/a": strings.Repeat("x", 60<<10)}
	var fields []metav1.ManagedFieldsEntry
	for i := range 15 {
		fields = append(fields, metav1.ManagedFieldsEntry{
			Manager: fmt.Sprint("m", i), Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "hnc.x-k8s.io/v1beta1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:metadata":{"f:annotations":{"f:%d%s":{}}}}`, i, strings.Repeat("f", 8000))),
		})
	}
	var writers errgroup.Group
	writers.SetLimit(16)
	for i := range 4 * 49 {
		writers.Go(func() error {
			namespace := "bounded-" + string("abcd"[i%4])
			_, err := propagator.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace).Create(t.Context(), &v1beta1.HierarchicalResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("large-%d", i), Annotations: large, ManagedFields: fields},
				Spec:       v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(limits("pods=5"))},
			}, metav1.CreateOptions{})
			return err
		})
	}
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	grow := func(u suite.User, namespace string) error {
		patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"example.com/a": %q}}}`, large["example.com/a"])
		_, err := u.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace).Patch(t.Context(), "q", types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	suite.Eventually(t, "rejecting another large object", func() error {
		if err := grow(eve, "bounded-team"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "large objects of tree") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	if err := grow(ann, "bounded-other"); err != nil {
		t.Errorf("a large object of another tree: %v", err)
	}
	if err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas("bounded-a").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "a large object after others are deleted", func() error { return grow(eve, "bounded-team") })
}
