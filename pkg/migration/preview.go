package migration

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/observe"
)

// examples is how many objects are named for each kind of writes.
const examples = 3

// preview prints what hnc-propagator will write when it starts, and asks.
func (m *Migration) preview(ctx context.Context) error {
	args, err := m.propagatorArgs(ctx)
	if err != nil {
		return err
	}
	report, err := observe.Run(ctx, asPropagator(m.config), args)
	if err != nil {
		return err
	}
	lines := report.Lines(examples)
	if len(lines) == 0 {
		lines = []string{"nothing"}
	}
	if err := m.printList("hnc-propagator will write:", lines); err != nil {
		return err
	}
	if !m.Confirm("Delete HNC's definitions, after which the migration cannot be rolled back? (yes/no) ") {
		return ErrNotConfirmed
	}
	return nil
}

// propagatorArgs returns the arguments with which hnc-propagator is installed, none if it is no Deployment.
func (c *clients) propagatorArgs(ctx context.Context) ([]string, error) {
	deployment, err := c.kube.AppsV1().Deployments(hnc.SystemNamespace).Get(ctx, "hnc-propagator", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == "hnc-propagator" {
			return container.Args, nil
		}
	}
	return nil, fmt.Errorf("deployment hnc-propagator in %s has no container hnc-propagator; install the servers as docs/migration.md describes", hnc.SystemNamespace)
}
