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

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
)

// Run populates the cache from watches, from the first request on, until ctx is done. The caller runs the
// informer for namespaces. Without requests for mynamespaces, no bindings are cached.
func (c *Cache) Run(ctx context.Context, namespaces cache.SharedIndexInformer, client kubernetes.Interface) error {
	select {
	case <-c.requested:
	case <-ctx.Done():
		return nil
	}
	handled, err := namespaces.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.setNamespace(obj.(*corev1.Namespace)) },
		UpdateFunc: func(_, obj any) { c.setNamespace(obj.(*corev1.Namespace)) },
		DeleteFunc: func(obj any) {
			if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				c.deleteNamespace(name)
			}
		},
	})
	if err != nil {
		return err
	}
	rbac := client.RbacV1()
	stores := map[cache.ListerWatcher]recordStore{
		listWatch(client, rbac.ClusterRoles()):                    c.roles("clusterroles", true, &rbacv1.ClusterRole{}),
		listWatch(client, rbac.Roles(metav1.NamespaceAll)):        c.roles("roles", false, &rbacv1.Role{}),
		listWatch(client, rbac.ClusterRoleBindings()):             c.bindings("clusterrolebindings", true, &rbacv1.ClusterRoleBinding{}),
		listWatch(client, rbac.RoleBindings(metav1.NamespaceAll)): c.bindings("rolebindings", false, &rbacv1.RoleBinding{}),
	}
	var running sync.WaitGroup
	for from, store := range stores {
		reflector := cache.NewReflectorWithOptions(from, store.exampleObject(), store, cache.ReflectorOptions{Name: "mynamespaces"})
		running.Go(func() { reflector.RunWithContext(ctx) })
	}
	defer running.Wait()
	for _, store := range stores {
		select {
		case <-store.synced():
		case <-ctx.Done():
			return nil
		}
	}
	if cache.WaitForCacheSync(ctx.Done(), handled.HasSynced) {
		c.setComplete()
		klog.FromContext(ctx).V(2).Info("Synced namespaces, roles and bindings")
	}
	return nil
}

// roles returns the store for ClusterRoles or for Roles.
func (c *Cache) roles(source string, cluster bool, example runtime.Object) *store[rbacindex.RoleGrant] {
	return newStore(example, recordHandler[rbacindex.RoleGrant]{
		reduce: func(obj any) *rbacindex.RoleGrant {
			switch r := obj.(type) {
			case *rbacv1.ClusterRole:
				return &rbacindex.RoleGrant{Role: rbacindex.Role{Name: r.Name}, Grant: rbacindex.GrantOf("", r.Rules)}
			case *rbacv1.Role:
				return &rbacindex.RoleGrant{Role: rbacindex.Role{Namespace: r.Namespace, Name: r.Name}, Grant: rbacindex.GrantOf(r.Namespace, r.Rules)}
			}
			panic("not a role")
		},
		set: func(r *rbacindex.RoleGrant) {
			c.changes.Changed(source, r.Namespace)
			c.update(func() { c.access.SetRole(r.Role, r.Grant) })
		},
		remove: func(r *rbacindex.RoleGrant) {
			c.changes.Changed(source, r.Namespace)
			c.update(func() { c.access.DeleteRole(r.Role) })
		},
		replace: func(all []*rbacindex.RoleGrant) {
			c.changes.Changed(source, rbacindex.AllNamespaces)
			c.update(func() { c.access.ReplaceRoles(cluster, all) })
		},
		heard: func() { c.changes.Heard(source) },
	})
}

// bindings returns the store for ClusterRoleBindings or for RoleBindings.
func (c *Cache) bindings(source string, cluster bool, example runtime.Object) *store[rbacindex.Binding] {
	return newStore(example, recordHandler[rbacindex.Binding]{
		reduce: func(obj any) *rbacindex.Binding {
			var b rbacindex.Binding
			switch o := obj.(type) {
			case *rbacv1.ClusterRoleBinding:
				b = rbacindex.NewBinding("", o.Name, o.RoleRef, o.Subjects)
			case *rbacv1.RoleBinding:
				b = rbacindex.NewBinding(o.Namespace, o.Name, o.RoleRef, o.Subjects)
			default:
				panic("not a binding")
			}
			return &b
		},
		set: func(b *rbacindex.Binding) {
			c.changes.Changed(source, b.Namespace)
			c.update(func() { c.access.SetBinding(*b) })
		},
		remove: func(b *rbacindex.Binding) {
			c.changes.Changed(source, b.Namespace)
			c.update(func() { c.access.DeleteBinding(b.BindingKey) })
		},
		replace: func(all []*rbacindex.Binding) {
			c.changes.Changed(source, rbacindex.AllNamespaces)
			c.update(func() { c.access.ReplaceBindings(cluster, all) })
		},
		heard: func() { c.changes.Heard(source) },
	})
}

// lister is a typed client for one resource.
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
