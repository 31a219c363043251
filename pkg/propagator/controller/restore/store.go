// Package restore recognizes that the API server's store of hierarchies, or the cluster, was lost or restored to an
// earlier state.
//
// A lost store comes back empty. That must not look as if all namespaces had left their trees: the labels and copies
// that would be removed are all that is left of them, so the hierarchies are rebuilt from the labels. A store is
// recognized by the UID of its configuration, which cannot be deleted; an annotation of the system namespace records
// it.
//
// Backups of the store and of the cluster are of different times. Checkpoints recognize that: identifiers that are
// recorded on both sides when a tree has changed. If they differ, nothing is propagated until an administrator has said
// which side is right, or until there is nothing to write.
package restore

import (
	"cmp"
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
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

var errOtherStore = errors.New("the API server has another store of hierarchies than before, or an earlier state of it; restarting, to compare it with the cluster")

// accepted is how many checkpoints a state of the cluster may be behind, because watches are late. Live reads accept
// the present one only.
const accepted = 64

// Store identifies the API server's store of hierarchies. Its methods are safe for concurrent use.
type Store struct {
	kubernetes kubernetes.Interface
	hierarchy  versioned.Interface
	// initial is the spec of the configuration that is created if there is none.
	initial v1beta1.HNCConfigurationSpec
	// known is the UID of the configuration in the store that the cache reflects, nil until it is known.
	known atomic.Pointer[types.UID]
	// lost is closed when the API server has another store.
	lost     chan struct{}
	markLost func()

	mu sync.Mutex
	// checkpoints are the last ones that were recorded, or are being recorded, in their order.
	checkpoints []string
	// oldest is the first of them that the store can have now: the present one, or while another is being recorded the
	// one before.
	oldest string
}

// NewStore returns a Store that is not known yet. A store without a configuration gets one with the initial spec.
func NewStore(kubernetes kubernetes.Interface, hierarchy versioned.Interface, initial v1beta1.HNCConfigurationSpec) *Store {
	s := &Store{kubernetes: kubernetes, hierarchy: hierarchy, initial: initial, lost: make(chan struct{})}
	s.markLost = sync.OnceFunc(func() { close(s.lost) })
	return s
}

// AwaitLoss returns when the API server is found to have another store, or when the context ends.
func (s *Store) AwaitLoss(ctx context.Context) {
	select {
	case <-s.lost:
	case <-ctx.Done():
	}
}

// Lost returns an error if the API server was found to have another store. The cache reflects the old one, and nothing
// may be decided on it.
func (s *Store) Lost() error {
	select {
	case <-s.lost:
		return errOtherStore
	default:
		return nil
	}
}

// Check returns an error unless the API server's store is the known one, or none is known yet. While the API is not
// served at all, the store does not count as lost. resourceVersion is the store's present version, "" if it is not
// known.
func (s *Store) Check(ctx context.Context) (resourceVersion string, err error) {
	known, since := s.known.Load(), s.since()
	list, err := s.hierarchy.HncV1beta1().HNCConfigurations().List(ctx, metav1.ListOptions{})
	isKnown := func(c v1beta1.HNCConfiguration) bool { return c.UID == *known && s.has(since, storedID(&c)) }
	switch {
	case known == nil && err == nil:
		// A standby must not continue a watch of a later state than the store's, either.
		return list.ResourceVersion, nil
	case err == nil && slices.ContainsFunc(list.Items, isKnown):
		return list.ResourceVersion, nil
	case known != nil && (err == nil || copies.Gone(err)):
		s.markLost()
		return "", errOtherStore
	}
	return "", fmt.Errorf("can't determine whether the store of hierarchies is the same: %w", err)
}

// CheckCluster returns an error unless the cluster records the checkpoint of the known store, or none is known yet.
// resourceVersion is the cluster's present version, "" if it is not known.
func (s *Store) CheckCluster(ctx context.Context) (resourceVersion string, err error) {
	known, since := s.known.Load(), s.since()
	list, err := s.kubernetes.CoreV1().Namespaces().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + hnc.SystemNamespace})
	if err != nil {
		return "", fmt.Errorf("can't determine whether the cluster is the same: %w", err)
	}
	for i := range list.Items {
		has := func(id string) bool { return s.has(since, id) }
		if system := &list.Items[i]; known != nil && system.Name == hnc.SystemNamespace && !slices.ContainsFunc(recorded(system.Annotations), has) {
			s.markLost()
			return "", errOtherStore
		}
	}
	return list.ResourceVersion, nil
}

// since returns the oldest checkpoint that the store can have now.
func (s *Store) since() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.oldest
}

// has reports whether a checkpoint is the given one or a later one. Others may be recorded while a request is under
// way.
func (s *Store) has(since, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.checkpoints[max(0, slices.Index(s.checkpoints, since)):], id)
}

// includes reports whether a checkpoint is one of the last ones.
func (s *Store) includes(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.checkpoints, id)
}

// add adds a checkpoint that is about to be recorded; the store has the one before, which may be "".
func (s *Store) add(before, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// However often it fails to be recorded, the one before is not forgotten.
	earlier := slices.DeleteFunc(s.checkpoints, func(one string) bool { return one == before || one == id })
	all := slices.Compact(append(earlier, before, id))
	s.checkpoints, s.oldest = all[max(0, len(all)-accepted):], before
}

// complete ends the recording of a checkpoint, which the store has now.
func (s *Store) complete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest = id
}

// live returns the configuration, and creates it if there is none.
func (s *Store) live(ctx context.Context) (*v1beta1.HNCConfiguration, error) {
	client := s.hierarchy.HncV1beta1().HNCConfigurations()
	c, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		c, err = client.Create(ctx, &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: s.initial}, metav1.CreateOptions{})
	}
	return c, err
}

// record records the store with a new checkpoint: first on the system namespace, beside the checkpoint of the store,
// then in the store, then on the namespace alone. So an interruption at any point leaves two records that match.
func (s *Store) record(ctx context.Context, system *corev1.Namespace, c *v1beta1.HNCConfiguration, cluster types.UID) error {
	id := nextID(append(recorded(system.Annotations), storedID(c))...)
	both := id + " " + cmp.Or(storedID(c), none)
	version, err := s.annotate(ctx, system, system.ResourceVersion, map[string]any{hnc.AnnotationStore: c.UID, hnc.AnnotationCheckpoint: both})
	if err != nil {
		return err
	}
	s.add(storedID(c), id)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": c.UID, "resourceVersion": c.ResourceVersion}, "status": map[string]any{"checkpoint": v1beta1.Checkpoint{Cluster: cluster, ID: id}},
	})
	if err != nil {
		return err
	}
	if _, err := s.hierarchy.HncV1beta1().HNCConfigurations().Patch(ctx, c.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	s.complete(id)
	// The version: a request that is late must not replace what a later leader has recorded.
	_, err = s.annotate(ctx, system, version, map[string]any{hnc.AnnotationCheckpoint: id, hnc.AnnotationTrust: nil})
	return err
}

// annotate patches the annotations of the system namespace if it has the given version, and returns the next one.
func (s *Store) annotate(ctx context.Context, system *corev1.Namespace, resourceVersion string, annotations map[string]any) (string, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": system.UID, "resourceVersion": resourceVersion, "annotations": annotations,
	}})
	if err != nil {
		return "", err
	}
	patched, err := s.kubernetes.CoreV1().Namespaces().Patch(ctx, system.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return "", err
	}
	return patched.ResourceVersion, nil
}
