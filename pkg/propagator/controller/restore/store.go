// Package restore recognizes that the API server's store of hierarchies was lost, and rebuilds the hierarchies from the labels of the namespaces.
//
// A lost store comes back empty. That must not look as if all namespaces had left their trees: the labels and copies that would be removed are all that
// is left of them. A store is recognized by the UID of its configuration, which cannot be deleted; an annotation of the system namespace records it.
package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

var errOtherStore = errors.New("the API server has another store of hierarchies than before; restarting, to rebuild them from the namespaces")

// Store identifies the API server's store of hierarchies. Its methods are safe for concurrent use.
type Store struct {
	kubernetes kubernetes.Interface
	hierarchy  versioned.Interface
	// known is the UID of the configuration in the store that the cache reflects, nil until it is known.
	known atomic.Pointer[types.UID]
	// lost is closed when the API server has another store.
	lost chan struct{}
	lose func()
}

// NewStore returns a Store that is not known yet.
func NewStore(kubernetes kubernetes.Interface, hierarchy versioned.Interface) *Store {
	s := &Store{kubernetes: kubernetes, hierarchy: hierarchy, lost: make(chan struct{})}
	s.lose = sync.OnceFunc(func() { close(s.lost) })
	return s
}

// AwaitLoss returns when the API server is found to have another store, or when the context ends.
func (s *Store) AwaitLoss(ctx context.Context) {
	select {
	case <-s.lost:
	case <-ctx.Done():
	}
}

// Lost returns an error if the API server was found to have another store. The cache reflects the old one, and nothing may be decided on it.
func (s *Store) Lost() error {
	select {
	case <-s.lost:
		return errOtherStore
	default:
		return nil
	}
}

// Check returns an error unless the API server's store is the known one, or none is known yet. While the API is not served at all, the store does
// not count as lost. resourceVersion is the store's present version, "" if it was not requested.
func (s *Store) Check(ctx context.Context) (resourceVersion string, err error) {
	known := s.known.Load()
	if known == nil {
		return "", nil
	}
	list, err := s.hierarchy.HncV1beta1().HNCConfigurations().List(ctx, metav1.ListOptions{})
	switch {
	case err == nil && slices.ContainsFunc(list.Items, func(c v1beta1.HNCConfiguration) bool { return c.UID == *known }):
		return list.ResourceVersion, nil
	case err == nil, copies.Gone(err):
		s.lose()
		return "", errOtherStore
	}
	return "", fmt.Errorf("can't determine whether the store of hierarchies is the same: %w", err)
}

// live returns the UID of the configuration, and creates the configuration if there is none.
func (s *Store) live(ctx context.Context) (types.UID, error) {
	client := s.hierarchy.HncV1beta1().HNCConfigurations()
	c, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		c, err = client.Create(ctx, &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}}, metav1.CreateOptions{})
	}
	if err != nil {
		return "", err
	}
	return c.UID, nil
}

// record records the store on the system namespace.
func (s *Store) record(ctx context.Context, system *corev1.Namespace, store types.UID) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": system.UID, "annotations": map[string]any{hnc.AnnotationStore: store}}})
	if err != nil {
		return err
	}
	_, err = s.kubernetes.CoreV1().Namespaces().Patch(ctx, system.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
