package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// printOverwritten prints the content that the object had before it was overwritten, as a manifest to apply.
func (o *whyOptions) printOverwritten(ctx context.Context, c *Clients, resource schema.GroupResource) error {
	record, err := c.Hierarchy.HncV1alpha3().OverwrittenObjects(o.object.namespace).
		Get(ctx, hnc.OverwrittenName(resource, o.object.name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !isUnserved(err) {
		return fmt.Errorf("no content of %s/%s in namespace %s is stored: no ancestor's object has overwritten it, or the content has expired; "+
			"kubectl get overwrittenobjects -n %s lists what is stored", resource, o.object.name, o.object.namespace, o.object.namespace)
	}
	if err != nil {
		return err
	}
	manifest, err := yamlbody.FromJSON([]byte(record.Spec.Manifest))
	if errors.Is(err, yamlbody.ErrTooDeep) {
		err = fmt.Errorf("%w; use kubectl get overwrittenobject %s -n %s --output=json", err, names.ShellWord(record.Name), o.object.namespace)
	}
	if err != nil {
		return fmt.Errorf("spec.manifest of overwrittenobject %s cannot be printed: %w", record.Name, err)
	}
	_, err = Exact(o.Out).Write(manifest)
	return err
}

// overwrittenBefore reports that the content of an overwritten object is kept. It reports nothing to users who may not
// read it.
func overwrittenBefore(ctx context.Context, c *Clients, q *origin.Question) []string {
	namespace := q.Chain[0].Name
	record, err := c.Hierarchy.HncV1alpha3().OverwrittenObjects(namespace).Get(ctx, hnc.OverwrittenName(q.Resource, q.Name), metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return []string{fmt.Sprintf("the one in %s overwrote an object that was created in %s, at %s; its content is kept until %s: kubectl hns why %s -n %s --overwritten",
		record.Spec.Source, namespace, record.CreationTimestamp.UTC().Format(time.RFC3339), record.Spec.ExpirationTime.UTC().Format(time.RFC3339), names.ShellWord(q.Resource.String()+"/"+q.Name), namespace)}
}
