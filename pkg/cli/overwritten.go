package cli

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
)

// printOverwritten prints the content that an object had before it was overwritten, as a manifest to apply.
func (e *Environment) printOverwritten(ctx context.Context, resource, name, namespace string) error {
	mapping, err := e.mapping(resource)
	if err != nil {
		return err
	}
	c, err := e.connect()
	if err != nil {
		return err
	}
	record := hnc.OverwrittenName(mapping.Resource.GroupResource(), name)
	o, err := c.hierarchy.HncV1beta1().OverwrittenObjects(namespace).Get(ctx, record, metav1.GetOptions{})
	if err != nil {
		return err
	}
	manifest, err := yaml.JSONToYAML([]byte(o.Spec.Manifest))
	if err != nil {
		return fmt.Errorf("the manifest that the server keeps can't be read: %w", err)
	}
	_, err = e.Out.Write(manifest)
	return err
}

// overwrittenBefore says that content of an object that was overwritten is kept. Users who may not read it are told nothing.
func overwrittenBefore(ctx context.Context, c *cluster, q *origin.Question, namespace string) []string {
	o, err := c.hierarchy.HncV1beta1().OverwrittenObjects(namespace).Get(ctx, hnc.OverwrittenName(q.Resource, q.Name), metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return []string{fmt.Sprintf("the one in %s has overwritten an object that was made in %s, at %s; its content is kept until %s: kubectl hns explain %s/%s -n %s --overwritten",
		o.Spec.Source, namespace, o.CreationTimestamp.UTC().Format(time.RFC3339), o.Spec.ExpirationTime.UTC().Format(time.RFC3339), q.Resource, q.Name, namespace)}
}
