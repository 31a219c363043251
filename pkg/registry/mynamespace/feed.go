package mynamespace

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/access"
)

// Feed keeps the picture up to date with the cluster, from the first request on, until ctx is done. namespaces is an informer that
// somebody else runs. Where nobody asks for mynamespaces, nobody pays for a picture of all bindings.
func (p *Picture) Feed(ctx context.Context, namespaces cache.SharedIndexInformer, client kubernetes.Interface) error {
	select {
	case <-p.wanted:
	case <-ctx.Done():
		return nil
	}
	handled, err := namespaces.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { p.setNamespace(obj.(*corev1.Namespace)) },
		UpdateFunc: func(_, obj any) { p.setNamespace(obj.(*corev1.Namespace)) },
		DeleteFunc: func(obj any) {
			if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				p.deleteNamespace(name)
			}
		},
	})
	if err != nil {
		return err
	}
	rbac := client.RbacV1()
	stores := map[cache.ListerWatcher]source{
		listWatch(client, rbac.ClusterRoles()):                    p.roles(true, &rbacv1.ClusterRole{}),
		listWatch(client, rbac.Roles(metav1.NamespaceAll)):        p.roles(false, &rbacv1.Role{}),
		listWatch(client, rbac.ClusterRoleBindings()):             p.bindings(true, &rbacv1.ClusterRoleBinding{}),
		listWatch(client, rbac.RoleBindings(metav1.NamespaceAll)): p.bindings(false, &rbacv1.RoleBinding{}),
	}
	var running sync.WaitGroup
	for from, store := range stores {
		reflector := cache.NewReflectorWithOptions(from, store.of(), store, cache.ReflectorOptions{Name: "mynamespaces"})
		running.Go(func() { reflector.RunWithContext(ctx) })
	}
	defer running.Wait()
	for _, store := range stores {
		select {
		case <-store.told():
		case <-ctx.Done():
			return nil
		}
	}
	if cache.WaitForCacheSync(ctx.Done(), handled.HasSynced) {
		p.finish()
		klog.FromContext(ctx).V(2).Info("All namespaces, roles and bindings have been read")
	}
	return nil
}

// roles returns the store of all ClusterRoles, or of all Roles.
func (p *Picture) roles(cluster bool, example runtime.Object) *store[access.RoleReach] {
	return newStore(example, contents[access.RoleReach]{
		reduce: func(obj any) *access.RoleReach {
			switch r := obj.(type) {
			case *rbacv1.ClusterRole:
				return &access.RoleReach{Role: access.Role{Name: r.Name}, Reach: access.ReachOf(r.Rules)}
			case *rbacv1.Role:
				return &access.RoleReach{Role: access.Role{Namespace: r.Namespace, Name: r.Name}, Reach: access.ReachOf(r.Rules)}
			}
			panic("not a role")
		},
		set:     func(r *access.RoleReach) { p.update(func() { p.access.SetRole(r.Role, r.Reach) }) },
		remove:  func(r *access.RoleReach) { p.update(func() { p.access.DeleteRole(r.Role) }) },
		replace: func(all []*access.RoleReach) { p.update(func() { p.access.ReplaceRoles(cluster, all) }) },
	})
}

// bindings returns the store of all ClusterRoleBindings, or of all RoleBindings.
func (p *Picture) bindings(cluster bool, example runtime.Object) *store[access.Binding] {
	return newStore(example, contents[access.Binding]{
		reduce: func(obj any) *access.Binding {
			var b access.Binding
			switch o := obj.(type) {
			case *rbacv1.ClusterRoleBinding:
				b = access.NewBinding("", o.Name, o.RoleRef, o.Subjects)
			case *rbacv1.RoleBinding:
				b = access.NewBinding(o.Namespace, o.Name, o.RoleRef, o.Subjects)
			default:
				panic("not a binding")
			}
			return &b
		},
		set:     func(b *access.Binding) { p.update(func() { p.access.SetBinding(*b) }) },
		remove:  func(b *access.Binding) { p.update(func() { p.access.DeleteBinding(b.Key) }) },
		replace: func(all []*access.Binding) { p.update(func() { p.access.ReplaceBindings(cluster, all) }) },
	})
}

// lister is a typed client of one resource.
type lister[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

func listWatch[L runtime.Object](client kubernetes.Interface, resource lister[L]) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: resource.Watch,
	}, client)
}
