package migration

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// errRestarted is the result of a step that needs HNC to be stopped. Repeating the step is no remedy: HNC may have
// written what the export does not have, and has set its finalizers again.
var errRestarted = errors.New("suspend what applies its manifests, such as GitOps, and undo everything, " +
	"because HNC may have made changes since its objects were exported: kubectl hns migrate rollback; then migrate again")

// whileStopped returns a step that fails if HNC has been started again since it was stopped.
func (m *Migration) whileStopped(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		found, err := m.restarted(ctx)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("HNC runs again: %s; %w", strings.Join(found, ", "), errRestarted)
		}
		return run(ctx)
	}
}

// restarted says what of HNC that the migration has stopped and removed is there again.
func (c *clients) restarted(ctx context.Context) ([]string, error) {
	var found []string
	for _, name := range controllers {
		replicas, err := c.replicas(ctx, hnc.HNCNamespace, name)
		if err != nil {
			return nil, err
		}
		if replicas > 0 {
			found = append(found, fmt.Sprintf("deployment %s has %d replicas", name, replicas))
		}
	}
	for _, webhooks := range []struct {
		resource schema.GroupVersionResource
		name     string
	}{{validatingResource, validatingWebhooks}, {mutatingResource, mutatingWebhooks}} {
		_, err := c.dynamic.Resource(webhooks.resource).Get(ctx, webhooks.name, metav1.GetOptions{})
		if err == nil {
			found = append(found, "webhook configuration "+webhooks.name+" exists")
		} else if !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return found, nil
}
