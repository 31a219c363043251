// Package restore recognizes that the API server's store of hierarchies, or the cluster, was lost or restored to an earlier state.
//
// A lost store comes back empty. That must not look as if all namespaces had left their trees: the labels and copies that would be removed are all that
// is left of them, so the hierarchies are rebuilt from the labels. A store is recognized by the UID of its configuration, which cannot be deleted; an
// annotation of the system namespace records it.
//
// Backups of the store and of the cluster are of different times. Checkpoints recognize that: identifiers that are recorded on both sides when a
// tree has changed. If they differ, nothing is propagated until an administrator has said which side is right, or until there is nothing to write.
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

var errOtherStore = errors.New("the API server has another store of hierarchies than before, or an earlier state of it; restarting, to compare it with the cluster")

// accepted is how many checkpoints a state of the cluster may be behind, because watches are late.
const accepted = 4

// Store identifies the API server's store of hierarchies. Its methods are safe for concurrent use.
type Store struct {
	kubernetes kubernetes.Interface
	hierarchy  versioned.Interface
	// known is the UID of the configuration in the store that the cache reflects, nil until it is known.
	known atomic.Pointer[types.UID]
	// lost is closed when the API server has another store.
	lost chan struct{}
	lose func()

	mu sync.Mutex
	// checkpoints are the last ones, the present one at the end.
	checkpoints []string
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
	before := s.present()
	list, err := s.hierarchy.HncV1beta1().HNCConfigurations().List(ctx, metav1.ListOptions{})
	isKnown := func(c v1beta1.HNCConfiguration) bool {
		// A checkpoint may be recorded during the request.
		return c.UID == *known && (storedID(&c) == before || s.includes(storedID(&c)))
	}
	switch {
	case err == nil && slices.ContainsFunc(list.Items, isKnown):
		return list.ResourceVersion, nil
	case err == nil, copies.Gone(err):
		s.lose()
		return "", errOtherStore
	}
	return "", fmt.Errorf("can't determine whether the store of hierarchies is the same: %w", err)
}

// present returns the present checkpoint, "" if there is none.
func (s *Store) present() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.checkpoints) == 0 {
		return ""
	}
	return s.checkpoints[len(s.checkpoints)-1]
}

// includes reports whether a checkpoint is one of the last ones.
func (s *Store) includes(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.checkpoints, id)
}

func (s *Store) add(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkpoints = append(s.checkpoints, id)
	s.checkpoints = s.checkpoints[max(0, len(s.checkpoints)-accepted):]
}

// live returns the configuration, and creates it if there is none.
func (s *Store) live(ctx context.Context) (*v1beta1.HNCConfiguration, error) {
	client := s.hierarchy.HncV1beta1().HNCConfigurations()
	c, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		c, err = client.Create(ctx, &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}}, metav1.CreateOptions{})
	}
	return c, err
}

// record records the store with a new checkpoint: first on the system namespace, beside the checkpoint of the store, then in the store, then on the
// namespace alone. So an interruption at any point leaves two records that match.
func (s *Store) record(ctx context.Context, system *corev1.Namespace, c *v1beta1.HNCConfiguration, cluster types.UID) error {
	id := nextID(append(recorded(system.Annotations), storedID(c))...)
	both := id
	if before := storedID(c); before != "" {
		both += " " + before
	}
	if err := s.annotate(ctx, system, system.ResourceVersion, map[string]any{hnc.AnnotationStore: c.UID, hnc.AnnotationCheckpoint: both}); err != nil {
		return err
	}
	s.add(id)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": c.UID}, "status": map[string]any{"checkpoint": v1beta1.Checkpoint{Cluster: cluster, ID: id}},
	})
	if err != nil {
		return err
	}
	if _, err := s.hierarchy.HncV1beta1().HNCConfigurations().Patch(ctx, c.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	return s.annotate(ctx, system, "", map[string]any{hnc.AnnotationCheckpoint: id, hnc.AnnotationTrust: nil})
}

// annotate patches the annotations of the system namespace, if it has the given version, unless that is "".
func (s *Store) annotate(ctx context.Context, system *corev1.Namespace, resourceVersion string, annotations map[string]any) error {
	metadata := map[string]any{"uid": system.UID, "annotations": annotations}
	if resourceVersion != "" {
		metadata["resourceVersion"] = resourceVersion
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	_, err = s.kubernetes.CoreV1().Namespaces().Patch(ctx, system.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
