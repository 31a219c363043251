package quota

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Earlier versions accepted names of any length. No request can write the status of such a quota.
func TestAStoredQuotaWithALongNameIsReportedByTheHierarchy(t *testing.T) {
	client := hncfake.NewSimpleClientset()
	c := New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Hierarchy: client,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, Config{Mode: Eventual})
	c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u", ResourceVersion: "1"}})
	q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: strings.Repeat("q", 300000), UID: "q", ResourceVersion: "2"}}
	c.Cache.ObserveQuota(q)
	if err := c.reconcileStatus(t.Context(), queue.Key{Namespace: "a", Name: q.Name}); err != nil || len(client.Actions()) > 0 {
		t.Errorf("returned %v and sent %d requests", err, len(client.Actions()))
	}
	var reported []metav1.Condition
	c.Cache.Read(func(s *cache.State) { reported = namespacestate.Conditions(s.Tree, "a") })
	if len(reported) != 1 || reported[0].Reason != hnc.ReasonNamesTooLong || !strings.Contains(reported[0].Message, "hierarchicalresourcequotas \"qqq") || len(reported[0].Message) > 1000 {
		t.Errorf("got %.2000v", reported)
	}
}
