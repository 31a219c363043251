package namespace

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// It comes back with a restored namespace, and names a Subnamespace of a store that was lost. The cache may not contain
// the one of a namespace that has just been created.
func TestAnAnnotationAboutLimitsDoesNotStayWithoutItsSubnamespace(t *testing.T) {
	for name, test := range map[string]struct {
		of string
		// cached and stored are the UIDs of the Subnamespace, "" if there is none.
		cached, stored types.UID
		void, stays    bool
		// unlimited says that the limits above are not in force.
		unlimited bool
	}{
		"its Subnamespace":                       {of: "p", cached: "s", stored: "s", stays: true},
		"not in the cache yet":                   {of: "p", stored: "s", stays: true},
		"the cache has an earlier one":           {of: "p", cached: "earlier", stored: "s", stays: true},
		"a later one":                            {of: "p", cached: "later", stored: "later"},
		"none any more":                          {of: "p"},
		"it stays without one, not limited yet":  {of: "p", unlimited: true, stays: true},
		"a void one":                             {of: "p", cached: "s", stored: "s", void: true},
		"it is a full namespace":                 {cached: "s", stored: "s"},
		"the cache still has it, and it is gone": {of: "p", cached: "s", stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "uid-c", ResourceVersion: "1", Annotations: map[string]string{hnc.AnnotationLimitsPending: "s"}}}
			if test.of != "" {
				ns.Annotations[hnc.AnnotationSubnamespaceOf] = test.of
			}
			sub := func(uid types.UID) *v1beta1.Subnamespace {
				s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: "p", Name: "c", UID: uid, ResourceVersion: "2"}}
				if test.void {
					s.Annotations = map[string]string{hnc.AnnotationVoid: "true"}
				}
				return s
			}
			var stored []runtime.Object
			if test.stored != "" {
				stored = append(stored, sub(test.stored))
			}
			client := fake.NewClientset(ns)
			c := New(controller.Dependencies{
				Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: client, Hierarchy: hncfake.NewSimpleClientset(stored...),
				Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
			}, func(*cache.State, string) bool { return !test.unlimited })
			c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "uid-p", ResourceVersion: "1"}})
			c.Cache.ObserveNamespace(ns)
			if test.cached != "" {
				c.Cache.ObserveSubnamespace(sub(test.cached))
			}
			if err := c.Reconcile(t.Context(), queue.Key{Class: queue.Namespace, Namespace: "c"}); err != nil {
				t.Fatal(err)
			}
			now, err := client.CoreV1().Namespaces().Get(t.Context(), "c", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, stays := now.Annotations[hnc.AnnotationLimitsPending]; stays != test.stays {
				t.Errorf("annotations %v", now.Annotations)
			}
			now.ResourceVersion = "3"
			c.Cache.ObserveNamespace(now)
			c.Cache.Read(func(s *cache.State) {
				if !test.stays && c.Diverges(s, "c") {
					t.Error("the namespace still diverges")
				}
			})
		})
	}
}
