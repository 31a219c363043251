package controlplane

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// What our servers ask for has levels of its own; without our schemas it would share one with all ServiceAccounts.
func TestRequestsOfOurServersHaveLevelsOfTheirOwn(t *testing.T) {
	cp := shared(t)
	c := client(t, cp)
	const other = "other"
	if _, err := c.CoreV1().ServiceAccounts(Namespace).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: other}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const (
		review = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
		leases = "/apis/coordination.k8s.io/v1/namespaces/"
	)
	for _, test := range []struct{ who, method, path, schema, level string }{
		{hnc.APIServerName, http.MethodPost, review, "hns-apiserver-reviews", "hns-apiserver"},
		{hnc.APIServerName, http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", "hns-apiserver-reviews", "hns-apiserver"},
		{hnc.APIServerName, http.MethodGet, "/api/v1/namespaces", "hns-apiserver", "hns-apiserver"},
		{hnc.APIServerName, http.MethodGet, "/api/v1/namespaces/default/secrets", "hns-apiserver", "hns-apiserver"},
		{hnc.APIServerName, http.MethodGet, "/openapi/v3", "hns-apiserver", "hns-apiserver"},
		{hnc.PropagatorName, http.MethodGet, "/api/v1/namespaces/default", "hns-propagator", "hns-propagator"},
		{hnc.PropagatorName, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", "hns-propagator", "hns-propagator"},
		{hnc.PropagatorName, http.MethodGet, leases + Namespace + "/leases/hns-propagator", "hns-leader-election", "leader-election"},
		{hnc.PropagatorName, http.MethodGet, leases + "default/leases/other", "hns-propagator", "hns-propagator"},
		// Others in our namespace, as we would be.
		{other, http.MethodPost, review, "service-accounts", "workload-low"},
	} {
		t.Run(strings.Join([]string{test.who, test.method, test.path}, " "), func(t *testing.T) {
			config, _, err := cp.ServiceAccount(t.Context(), Namespace, test.who)
			if err != nil {
				t.Fatal(err)
			}
			schema, err := c.FlowcontrolV1().FlowSchemas().Get(t.Context(), test.schema, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			level, err := c.FlowcontrolV1().PriorityLevelConfigurations().Get(t.Context(), test.level, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var matched http.Header
			// kube-apiserver follows its schemas by a watch.
			err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
				matched, err = headers(ctx, config, test.method, test.path)
				return matched.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID) == string(schema.UID) &&
					matched.Get(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID) == string(level.UID), err
			})
			if err != nil {
				t.Errorf("%v; answered with %v, want schema %s (%s) and level %s (%s)", err, matched, test.schema, schema.UID, test.level, level.UID)
			}
		})
	}
}

// headers makes a request and returns the headers of the answer. Priority and fairness is before authorization: what
// the answer says does not matter.
func headers(ctx context.Context, config *rest.Config, method, path string) (http.Header, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, config.Host+path, strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	return response.Header, response.Body.Close()
}

func TestEverySchemaOfOursHasItsLevel(t *testing.T) {
	cp := shared(t)
	c := client(t, cp)
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		return dangling(ctx, c) == 0, nil
	})
	if err != nil {
		t.Errorf("%v: %d schemas of ours are not known to have their levels", err, dangling(t.Context(), c))
	}
}

// dangling returns how many of our schemas name a level that does not exist, or are not looked at yet. There must be
// some.
func dangling(ctx context.Context, c kubernetes.Interface) int {
	schemas, err := c.FlowcontrolV1().FlowSchemas().List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=hns"})
	if err != nil || len(schemas.Items) == 0 {
		return -1
	}
	n := len(schemas.Items)
	for _, schema := range schemas.Items {
		for _, condition := range schema.Status.Conditions {
			if condition.Type == flowcontrolv1.FlowSchemaConditionDangling && condition.Status == flowcontrolv1.ConditionFalse {
				n--
			}
		}
	}
	return n
}
