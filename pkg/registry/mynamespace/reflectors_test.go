package mynamespace

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
)

func TestCachePopulatesAtFirstRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "seer"}, Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
			}},
			&rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"},
				RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", Name: "seer"}, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "ann"}},
			},
		)
		ctx, cancel := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(client, 0)
		namespaces := factory.Core().V1().Namespaces().Informer()
		factory.Start(ctx.Done())
		defer factory.Shutdown()
		defer cancel()
		p := NewCache()
		go func() {
			if err := p.Run(ctx, namespaces, client); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if slices.ContainsFunc(client.Actions(), func(a clienttesting.Action) bool { return a.GetResource().Group == rbacv1.GroupName }) {
			t.Errorf("before the first request: %v", client.Actions())
		}
		if err := p.waitForSync(ctx); err != nil {
			t.Fatal(err)
		}
		if p.get([]rbacindex.Subject{{Name: "ann"}}, "a") == nil {
			t.Error("the binding is not in the cache")
		}
		if p.get([]rbacindex.Subject{{Name: "bob"}}, "a") != nil {
			t.Error("bob is allowed to get the namespace")
		}
	})
}
