package hierarchytree

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
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
	index := tree.New(tree.Config{Namespaces: corelisters.NewNamespaceLister(namespaces), Rules: managed.Default}).Index
	r := New(index, func(context.Context, string) (*hnc.Hierarchy, error) { return h, nil })
	o, err := r.Get(genericapirequest.WithNamespace(t.Context(), "a"), hnc.Singleton, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
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
