package namespace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

func TestANamespaceHasOurFinalizerWhileItHasSubnamespaces(t *testing.T) {
	const child = "ns b sub-of a label a.tree.hnc.x-k8s.io/depth=1"
	for name, test := range map[string]struct {
		given       []string
		add, remove bool
	}{
		"no sub-namespace":                             {[]string{"ns a"}, false, false},
		"a sub-namespace":                              {[]string{"ns a", child, "asked a b"}, true, false},
		"a sub-namespace, with the finalizer":          {[]string{"ns a last", child, "asked a b"}, false, false},
		"one that is about to be created":              {[]string{"ns a", "asked a b"}, true, false},
		"a full child":                                 {[]string{"ns a last", "ns b", "parent b a"}, false, true},
		"a converted sub-namespace":                    {[]string{"ns a last", "ns b", "asked a b", "void a b", "parent b a"}, false, true},
		"a sub-namespace without a Subnamespace":       {[]string{"ns a", child, "parent b a"}, true, false},
		"being deleted, along with one":                {[]string{"ns a last", child, "parent b a", "cascading a", "finalized a"}, false, false},
		"being deleted, and one stays":                 {[]string{"ns a last", child, "parent b a", "terminating a"}, false, true},
		"an annotation, which anybody can write":       {[]string{"ns a last", "ns b sub-of a"}, false, true},
		"the same, and it is being deleted":            {[]string{"ns a last", "ns b sub-of a", "terminating b"}, false, true},
		"a full child that is annotated, and deleted":  {[]string{"ns a", child, "parent b a", "terminating b"}, false, false},
		"one that somebody else claims":                {[]string{"ns a last", "ns b", "asked a b"}, false, true},
		"being deleted, before its sub-namespaces are": {[]string{"ns a last", child, "asked a b", "terminating a"}, false, false},
		"being deleted, with its sub-namespaces":       {[]string{"ns a last", child, "asked a b", "free a b", "terminating a", "terminating b"}, false, false},
		"the same, and the Subnamespaces are gone":     {[]string{"ns a last", child, "terminating a", "terminating b"}, false, false},
		"the same, and it has no content":              {[]string{"ns a last", child, "finalized a", "terminating b"}, false, false},
		"its sub-namespaces are gone":                  {[]string{"ns a last", child, "finalized a", "terminating b", "gone b"}, false, true},
		"its sub-namespace stays as an orphan":         {[]string{"ns a last", child, "asked a b", "free a b", "terminating a"}, false, true},
		"its Subnamespaces are not served any more":    {[]string{"ns a last", child, "asked a b", "finalized a"}, false, true},
		"being deleted, and never had the finalizer":   {[]string{"ns a", child, "asked a b", "terminating a"}, false, false},
		"excluded": {[]string{"ns kube-system last", "asked kube-system b"}, false, true},
		"a sub-namespace that is deleted by a user":     {[]string{"ns a last", child, "deleting a b", "terminating b"}, false, false},
		"the same, and somebody has freed the record":   {[]string{"ns a last", child, "terminating b"}, false, false},
		"a sub-namespace that was moved by a hierarchy": {[]string{"ns a last", "ns c", "ns b sub-of a", "asked a b", "parent b c"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			of := strings.Fields(test.given[0])[1]
			if add, remove := namespacestate.FinalizerChanges(treetest.New(test.given...), of); add != test.add || remove != test.remove {
				t.Errorf("added %v, removed %v", add, remove)
			}
		})
	}
}

// A leaf that a finalizer keeps keeps all namespaces above it, and these say so.
func TestANamespaceReportsWhatKeepsIt(t *testing.T) {
	chain := []string{"ns a last", "ns b last sub-of a label a.tree.hnc.x-k8s.io/depth=1", "ns c sub-of b label b.tree.hnc.x-k8s.io/depth=1", "finalized a"}
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"a leaf":                     {[]string{"finalized b", "terminating c"}, ": c; see"},
		"all that is below":          {[]string{"terminating b", "terminating c", "gone c"}, ": b; see"},
		"nothing":                    {nil, ""},
		"Kubernetes is not done yet": {[]string{"terminating a", "terminating b"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := remaining(treetest.New(slices.Concat(chain, test.given)...), "a")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	var many []string
	for i := range 8 {
		many = append(many, fmt.Sprintf("ns s%d sub-of a label a.tree.hnc.x-k8s.io/depth=1", i), fmt.Sprintf("terminating s%d", i))
	}
	if got := remaining(treetest.New(append([]string{"ns a last", "finalized a"}, many...)...), "a"); !strings.Contains(got, "s0, s1, s2, s3, s4, and 3 more;") {
		t.Errorf("got %q", got)
	}
}

// noQueue forgets all work.
type noQueue struct{}

func (noQueue) Add(queue.Key)                     {}
func (noQueue) AddAfter(queue.Key, time.Duration) {}

func TestWhatKeepsANamespaceIsReportedInItsStatus(t *testing.T) {
	now := metav1.Now()
	a := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "a", UID: "a", ResourceVersion: "1", DeletionTimestamp: &now, Finalizers: []string{"others.example.com/one", hnc.FinalizerSubnamespaces},
	}}
	b := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{
			Name: "b", UID: "b", ResourceVersion: "2", DeletionTimestamp: &now, Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "a"},
			Labels: map[string]string{hnc.TreeLabel("a"): "1"},
		},
		Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
	}
	client := fake.NewClientset(a, b)
	d := controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: client, Queue: noQueue{},
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}
	d.Cache.ObserveNamespace(a)
	d.Cache.ObserveNamespace(b)
	c := New(d, nil)
	shown := func() string {
		t.Helper()
		if err := c.Reconcile(t.Context(), queue.Key{Class: queue.Namespace, Namespace: "a"}); err != nil {
			t.Fatal(err)
		}
		ns, err := client.CoreV1().Namespaces().Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ns.ResourceVersion = treetest.Next()
		d.Cache.ObserveNamespace(ns)
		result := strings.Join(ns.Finalizers, " ")
		for _, condition := range ns.Status.Conditions {
			result += fmt.Sprintf(" %s=%s", condition.Reason, condition.Status)
		}
		return result
	}
	if got := shown(); got != "others.example.com/one hnc.x-k8s.io/subnamespaces SubnamespacesRemain=True" {
		t.Errorf("while it waits: %s", got)
	}
	d.Cache.Update(func(s *cache.State) { s.Tree.DeleteNamespace("b", "b") })
	shown()
	if got := shown(); got != "others.example.com/one SubnamespacesGone=False" {
		t.Errorf("when they are gone: %s", got)
	}
}
