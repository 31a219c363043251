package migration

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Keys of the state, besides those of pkg/apis/hnc.
const (
	keyDigest = "digest"
	keyBackup = "backup"
	keyHolder = "holder"
	keySaved  = "saved"
)

// state is how far a migration has got, and what a rollback restores.
type state struct {
	*clients
	stored *corev1.ConfigMap
	backup backup
}

// backup is what the steps change besides HNC's objects, as it was before.
type backup struct {
	Webhooks    []*unstructured.Unstructured `json:"webhooks,omitempty"`
	APIServices []*unstructured.Unstructured `json:"apiServices,omitempty"`
	// Replicas are those of HNC's Deployments.
	Replicas map[string]int64 `json:"replicas,omitempty"`
	// Propagator is the number of replicas of hns-propagator, which the way back from the export stops.
	Propagator int64 `json:"propagator,omitempty"`
	// Rules are those of the configuration of hns-apiserver.
	Rules *v1beta1.Rules `json:"rules,omitempty"`
}

// loadState reads the state, nil if no migration is under way.
func loadState(ctx context.Context, c *clients) (*state, error) {
	stored, err := c.kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Get(ctx, hnc.Migration, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // There is none.
	}
	if err != nil {
		return nil, err
	}
	s := &state{clients: c, stored: stored}
	if err := json.Unmarshal([]byte(stored.Data[keyBackup]), &s.backup); err != nil {
		return nil, fmt.Errorf("configmap %s in %s: %s: %w; restore the ConfigMap from a backup", hnc.Migration, hnc.SystemNamespace, keyBackup, err)
	}
	return s, nil
}

// position returns the first step that is not completed.
func (s *state) position(steps []step) int {
	if s == nil {
		return 0
	}
	return 1 + slices.IndexFunc(steps, func(at step) bool { return at.name == s.stored.Data[hnc.MigrationStep] })
}

// newState records what a rollback needs.
func newState(ctx context.Context, c *clients) (*state, error) {
	saved, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	return storeState(ctx, c, saved, map[string]string{})
}

// storeState records a backup, besides data.
func storeState(ctx context.Context, c *clients, saved backup, data map[string]string) (*state, error) {
	encoded, err := json.Marshal(saved)
	if err != nil {
		return nil, err
	}
	data[keyBackup], data[keyHolder] = string(encoded), rand.Text()
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: hnc.Migration, Namespace: hnc.SystemNamespace}, Data: data}
	stored, err = c.kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Create(ctx, stored, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return nil, errors.New("another process has just begun this migration; run only one, and repeat this command when it has ended; this one has changed nothing")
	}
	return &state{clients: c, stored: stored, backup: saved}, err
}

// current returns what the steps will change.
func (c *clients) current(ctx context.Context) (backup, error) {
	saved := backup{Replicas: map[string]int64{}}
	for _, object := range []struct {
		resource schema.GroupVersionResource
		name     string
		into     *[]*unstructured.Unstructured
	}{
		{validatingResource, validatingWebhooks, &saved.Webhooks}, {mutatingResource, mutatingWebhooks, &saved.Webhooks}, {hnc.APIServiceResource, listService, &saved.APIServices},
	} {
		found, err := c.dynamic.Resource(object.resource).Get(ctx, object.name, metav1.GetOptions{})
		switch {
		case err == nil:
			*object.into = append(*object.into, withoutServerFields(found))
		case !apierrors.IsNotFound(err):
			return saved, err
		}
	}
	for _, name := range deployments {
		found, err := c.kube.AppsV1().Deployments(hnc.HNCNamespace).GetScale(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			saved.Replicas[name] = int64(found.Spec.Replicas)
		case !apierrors.IsNotFound(err):
			return saved, err
		}
	}
	var err error
	if saved.Propagator, err = c.replicas(ctx, hnc.SystemNamespace, hnc.PropagatorName); err != nil {
		return saved, err
	}
	configuration, err := c.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		return saved, gone(err)
	}
	saved.Rules = configuration.Spec.Rules
	return saved, nil
}

// errOther is returned when another process has taken over the migration.
var errOther = errors.New("another process continues this migration; run only one, and repeat this command when it has ended")

// claim makes this process the one that migrates. What another one records from then on fails.
func (s *state) claim(ctx context.Context) error {
	return s.record(ctx, keyHolder, rand.Text())
}

// hold returns an error if another process has claimed or recorded something since this one has. It comes directly
// before what must not be done twice, because a process may be suspended for any time.
func (s *state) hold(ctx context.Context) error {
	return s.record(ctx, keyHolder, s.stored.Data[keyHolder])
}

// completed records that a step is completed. It fails if another process has migrated in the meantime.
func (s *state) completed(ctx context.Context, step string) error {
	return s.record(ctx, hnc.MigrationStep, step)
}

func (s *state) record(ctx context.Context, key, value string) error {
	changed := s.stored.DeepCopy()
	changed.Data[key] = value
	stored, err := s.kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Update(ctx, changed, metav1.UpdateOptions{FieldManager: fieldManager})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errOther
	}
	if err != nil {
		return err
	}
	s.stored = stored
	return nil
}

// forget deletes the state of a completed migration.
func (s *state) forget(ctx context.Context) error {
	err := s.kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Delete(ctx, hnc.Migration, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{ResourceVersion: &s.stored.ResourceVersion},
	})
	if apierrors.IsConflict(err) {
		return errOther
	}
	return gone(err)
}

// withoutServerFields returns the object as it can be created again.
func withoutServerFields(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences", "selfLink"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	return object
}
