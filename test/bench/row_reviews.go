package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// measureReviews has 25 users watch ten kinds each across subtrees of 50 and of 600 namespaces, and counts the reviews
// of access while nothing changes.
func measureReviews(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	for _, n := range []int{b.pick(50, 5), b.pick(600, 10)} {
		if err := measureReviewsOf(ctx, b, n); err != nil {
			return err
		}
	}
	return nil
}

func measureReviewsOf(ctx context.Context, b *bench, namespaces int) error {
	root := fmt.Sprintf("reviewed-%d", namespaces)
	users, kinds := b.pick(25, 2), watchedKinds[:10]
	if err := b.createNamespaces(ctx, []string{root}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}},
	}
	if _, err := b.admin.kube.RbacV1().RoleBindings(root).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	b.sayf("making %d sub-namespaces", namespaces-1)
	if _, _, err := load(ctx, namespaces-1, func(ctx context.Context, i int) error {
		s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", root, i)}}
		_, err := b.admin.hierarchy.HncV1beta1().Subnamespaces(root).Create(ctx, s, metav1.CreateOptions{})
		return err
	}); err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range users {
		config, err := b.cp.User(fmt.Sprintf("reader-%d", i))
		if err != nil {
			return err
		}
		c, err := clientsFor(config)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			w, err := c.dynamic.Resource(acrossSubtree(kind)).Namespace(root).Watch(watching, metav1.ListOptions{})
			if err != nil {
				return fmt.Errorf("%s: %w", kind.Resource, err)
			}
			go func() {
				for range w.ResultChan() {
				}
			}()
		}
	}
	// Decisions from before are cached for ten seconds, and those of changed bindings are checked again.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(b.pick(30, 1)) * time.Second):
	}
	perSecond, err := reviewsPerSecond(ctx, b, b.pick(120, 1))
	if err != nil {
		return err
	}
	return b.report(fmt.Sprintf("reviews-watches-%d", namespaces), "reviews/s", users*len(kinds), series{values: []float64{max(perSecond, 0.01)}}, none,
		fmt.Sprintf("of kube-apiserver while nothing changes; %d watches across %d namespaces", users*len(kinds), namespaces))
}

// reviewsPerSecond returns how many reviews of access kube-apiserver serves per second, over some seconds.
func reviewsPerSecond(ctx context.Context, b *bench, seconds int) (float64, error) {
	count := func() (float64, error) {
		m, err := b.metered().of(ctx, kubeAPIServer)
		return m.sum("apiserver_request_total", func(labels string) bool {
			return strings.HasSuffix(label(labels, "resource"), "subjectaccessreviews")
		}), err
	}
	before, err := count()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(time.Duration(seconds) * time.Second):
	}
	after, err := count()
	return (after - before) / time.Since(begun).Seconds(), err
}
