package hierarchytree

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// Tenants decide how many problems there are, and how long the names in their messages are.
func TestMessagesOfATreeAreBounded(t *testing.T) {
	const problems, long = 1000, 30 << 10
	namespaces := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	if err := namespaces.Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	h := &hnc.Hierarchy{}
	h.Status.Conditions = []metav1.Condition{{Type: hnc.ConditionBadConfiguration, Status: metav1.ConditionTrue}}
	for range problems {
		for _, message := range []string{strings.Repeat("x", long), "short"} {
			h.Status.Problems = append(h.Status.Problems, hnc.Problem{Type: hnc.ConditionBadConfiguration, Reason: "R", Message: message})
		}
	}
	index := treerules.New(treerules.Config{Namespaces: corelisters.NewNamespaceLister(namespaces), Rules: managedkeys.Default}).Index
	r := New(index, func(context.Context, string) (*hnc.Hierarchy, error) { return h, nil }, inflight.NewResponses())
	o, err := r.Get(genericapirequest.WithNamespace(t.Context(), "a"), hnc.Singleton, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	// Each tree is encoded as a whole. The first ones are in flight until the test ends.
	get := func(ctx context.Context) error {
		_, err := r.Get(genericapirequest.WithNamespace(ctx, "a"), hnc.Singleton, &metav1.GetOptions{ResourceVersion: "0"})
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	for get(t.Context()) == nil && get(ctx) == nil {
	}
	if err := get(t.Context()); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "bytes of large responses") {
		t.Errorf("one tree more: %v", err)
	}
	cancel()
	for end := time.Now().Add(10 * time.Second); get(t.Context()) != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a tree after others are written is rejected")
		}
	}
	conditions := o.(*hnc.HierarchyTree).Nodes[0].Conditions
	bytes := 0
	for _, c := range conditions {
		bytes += len(c.Message)
		if c.Reason == "" || c.Message == "" {
			t.Fatalf("got %+v", c)
		}
	}
	if len(conditions) != 2*problems || len(conditions[0].Message) != long || bytes > maxMessageBytes+len(conditions)*100 {
		t.Errorf("got %d conditions with %d bytes, %d in the first", len(conditions), bytes, len(conditions[0].Message))
	}
}
