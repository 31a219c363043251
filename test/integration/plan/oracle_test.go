package plan

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// editor returns a new ServiceAccount with the ClusterRole edit in a namespace, and no other permission.
func editor(t *testing.T, name, namespace string) user {
	t.Helper()
	u, err := person(t.Context(), name, namespace)
	if err != nil {
		t.Fatal(err)
	}
	b := binding(namespace, "editors", "edit")
	b.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: name}}
	if _, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, name+" may plan", "<nil>", func() string {
		_, err := ask(t, u, namespace, parent(""), 0)
		return fmt.Sprint(err)
	})
	return u
}

func TestAPlanIsNoOracle(t *testing.T) {
	configure(t, "configmaps Propagate Keep", "secrets Propagate Keep")
	namespace(t, "oracle-root", "")
	namespace(t, "oracle-mine", "oracle-root")
	namespace(t, "oracle-below", "oracle-mine")
	namespace(t, "oracle-theirs", "")
	namespace(t, "oracle-deep", "oracle-theirs")
	for i := range 3 {
		secret(t, "oracle-theirs", fmt.Sprint("password", i), map[string]string{"value": "x"})
		configMap(t, "oracle-root", fmt.Sprint("settings", i), "x")
	}
	configMap(t, "oracle-mine", "settings", "mine")
	configMap(t, "oracle-theirs", "settings", "theirs")
	dave := editor(t, "dave", "oracle-mine")
	asked := func(spec v1alpha3.HierarchyPlanSpec) string {
		status, err := ask(t, dave, "oracle-mine", spec, 0)
		if err != nil {
			return err.Error()
		}
		if status.Summary != (v1alpha3.PlanSummary{}) || len(status.Namespaces)+len(status.Unknown)+len(status.Hidden) > 0 || status.Continue != "" {
			t.Errorf("%+v: the answer is more than the refusal: %+v", spec, status)
		}
		raw, err := json.Marshal(status.Refusals)
		if err != nil || len(status.Refusals) == 0 {
			t.Fatalf("%+v: no refusal: %+v, %v", spec, status, err)
		}
		return string(raw)
	}
	// Whether a namespace exists, what is in it and where it is makes no difference.
	answers := map[string]bool{}
	for _, name := range []string{"oracle-theirs", "oracle-deep", "oracle-nowhere", "oracle-root-2"} {
		answers[strings.ReplaceAll(asked(parent(name)), name, "PARENT")] = true
		err := move(t, dave, "oracle-mine", name)
		if !apierrors.IsForbidden(err) {
			t.Errorf("moved to %s: %v", name, err)
		}
		answers["written: "+strings.ReplaceAll(fmt.Sprint(err), name, "PARENT")] = true
	}
	if len(answers) != 2 {
		t.Errorf("the answers differ: %v", answers)
	}
	for _, spec := range []v1alpha3.HierarchyPlanSpec{
		parent(""), deletion,
		{Change: v1alpha3.ChangeConfiguration, Resources: resources("services")},
		{Change: v1alpha3.ChangePropagation, Resources: resources("services")},
	} {
		if answer := asked(spec); strings.Contains(answer, "settings") || strings.Contains(answer, "oracle-below") {
			t.Errorf("%+v: %s", spec, answer)
		}
	}
	if err := move(t, dave, "oracle-mine", "oracle-theirs", metav1.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("dry run: %v", err)
	}
	if warned := dave.warnings.take(); len(warned) > 0 {
		t.Errorf("dave is warned of %q", warned)
	}
}

// Without its retries, a client sees that the server limits concurrent plans.
func TestConcurrentPlansAreLimited(t *testing.T) {
	namespace(t, "busy-root", "")
	for i := range 10 {
		namespace(t, fmt.Sprint("busy-", i), "busy-root")
	}
	config := rest.CopyConfig(alice.Config)
	config.QPS = -1
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"HierarchyPlan","metadata":{"name":"hierarchy"},"spec":{"change":"Parent"}}`
	limited := func() (int, string) {
		var mu sync.Mutex
		var after string
		n := 0
		var requests sync.WaitGroup
		for range 20 {
			requests.Go(func() {
				response, err := transport.Post(config.Host+"/apis/hnc.x-k8s.io/v1beta1/namespaces/busy-root/hierarchies/hierarchy/plan", "application/json", strings.NewReader(body))
				if err != nil {
					return
				}
				defer func() { _ = response.Body.Close() }()
				mu.Lock()
				defer mu.Unlock()
				if response.StatusCode == http.StatusTooManyRequests {
					n++
					after = response.Header.Get("Retry-After")
				}
			})
		}
		requests.Wait()
		return n, after
	}
	suite.EventuallyEqual(t, "some plans are refused for a second", "true 1", func() string {
		n, after := limited()
		return fmt.Sprint(n > 0, " ", after)
	})
	// A client that retries gets its answer.
	var requests sync.WaitGroup
	for range 6 {
		requests.Go(func() {
			if _, err := alice.HNC.HncV1beta1().Hierarchies("busy-root").Plan(t.Context(), hnc.Singleton, &v1alpha3.HierarchyPlan{Spec: parent("")}, metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	requests.Wait()
}
