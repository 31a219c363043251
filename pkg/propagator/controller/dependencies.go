// Package controller contains a package for each controller of the propagator, and what they share. A controller
// reconciles one thing, decides from the cache alone, and has access to another's methods but not to its state.
package controller

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Queue is where controllers ask to be called for a key.
type Queue interface {
	Add(key queue.Key)
	AddAfter(key queue.Key, d time.Duration)
}

// dryRunVersion is after all versions of objects.
const dryRunVersion = "9000000000000000000"

// Written gives the result of a write the version with which the cache accepts it. Only that of a dry run has none of
// its own.
func (d Dependencies) Written(o *metav1.ObjectMeta) {
	if d.DryRun {
		o.ResourceVersion = dryRunVersion
	}
}

// Dependencies are what every controller gets.
type Dependencies struct {
	Cache      *cache.Cache
	Kubernetes kubernetes.Interface
	Hierarchy  versioned.Interface
	Dynamic    dynamic.Interface
	Bindings   client.Bindings
	Events     record.EventRecorder
	Metrics    *metrics.Metrics
	// DryRun reports that no write is stored.
	DryRun bool
	// Urgent holds what a user's request waits for, Queue everything else.
	Urgent, Queue Queue
}

// LiveHierarchy returns the Hierarchy of a namespace as the API server stores it now, nil if there is none.
func (d Dependencies) LiveHierarchy(ctx context.Context, namespace string) (*tree.Hierarchy, error) {
	h, err := d.Hierarchy.HncV1beta1().Hierarchies(namespace).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return tree.NewHierarchy(h), nil
}
