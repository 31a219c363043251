package options

import (
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Allowed reviews are cached for ten seconds, in which a namespace can be deleted and become another tenant's.
func TestNoReviewOfAnEarlierNamespaceIsUsed(t *testing.T) {
	namespace := func(uid types.UID, deleted *metav1.Time) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x", UID: uid, DeletionTimestamp: deleted}}
	}
	first, second := namespace("first", nil), namespace("second", nil)
	terminating := namespace("first", &metav1.Time{Time: time.Unix(1, 0)})
	for _, step := range []struct {
		title           string
		cached, cluster *corev1.Namespace
		allowed         bool
	}{
		{"as before", first, first, true},
		{"not in the cache", nil, first, true},
		{"being deleted", terminating, terminating, true},
		{"gone", terminating, nil, false},
		{"gone from the cache", nil, nil, false},
		{"created again", terminating, second, false},
		{"created again, before the cache contains it", nil, second, false},
		{"created again and cached", second, second, false},
	} {
		t.Run(step.title, func(t *testing.T) {
			cluster, asked := first, 0
			present := clusterOf(t, first, first)
			reviews := reviewedBy(t, present, func(spec authorizationv1.SubjectAccessReviewSpec) bool {
				asked++
				return cluster == first || cluster == terminating
			})
			eve := &user.DefaultInfo{Name: "eve", Extra: map[string][]string{extraNamespaceUID: {"first"}}}
			allowed := func() bool {
				decision, _, err := reviews.Authorize(t.Context(), authorizer.AttributesRecord{User: eve, Verb: "update", Namespace: "x", Resource: "hierarchies", ResourceRequest: true})
				if err != nil {
					t.Fatal(err)
				}
				return decision == authorizer.DecisionAllow
			}
			if !allowed() {
				t.Fatal("denied in the first namespace")
			}
			cluster, *present = step.cluster, *clusterOf(t, step.cached, step.cluster)
			if got := allowed(); got != step.allowed || got && asked != 1 {
				t.Errorf("allowed: %t, after %d reviews", got, asked)
			}
		})
	}
}

// clusterOf returns the namespaces of a cluster that has one or none, of which the cache has one or none.
func clusterOf(t *testing.T, cached, present *corev1.Namespace) *namespaces {
	t.Helper()
	indexer, client := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), fake.NewClientset()
	if cached != nil {
		if err := indexer.Add(cached); err != nil {
			t.Fatal(err)
		}
	}
	if present != nil {
		if err := client.Tracker().Add(present); err != nil {
			t.Fatal(err)
		}
	}
	return &namespaces{corelisters.NewNamespaceLister(indexer), client.CoreV1()}
}
