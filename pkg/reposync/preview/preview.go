// Package preview shows what applying objects would change in the cluster, by requests that store nothing.
package preview

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Previewer compares objects with the cluster. Its method may be called concurrently.
type Previewer struct {
	cluster *cluster.Cluster
	client  dynamic.Interface
	sync    string
}

// New returns a Previewer for the RepositorySync of that name. The configuration is that of the user who would apply
// the objects.
func New(config *rest.Config, c *cluster.Cluster, sync string) (*Previewer, error) {
	client, err := deepjson.NewDynamic(config, nil)
	return &Previewer{cluster: c, client: client, sync: sync}, err
}

// Compare returns what applying an object would do: changes.Added, changes.Changed with the paths of the fields, or
// without them if it is deleted and created again, or "" for nothing. The API server validates the request, except for
// objects in a namespace that does not exist yet, and those of a kind that it does not serve yet.
func (p *Previewer) Compare(ctx context.Context, o *plan.Object) (changes.Change, []string, error) {
	if o.Handling == plan.Unmanaged {
		return "", nil, nil
	}
	resource, err := p.cluster.ResourceOf(o)
	if err != nil {
		// Its CustomResourceDefinition is applied along with it.
		return changes.Added, nil, nil //nolint:nilerr // see above
	}
	client := p.client.Resource(resource).Namespace(o.Namespace)
	live, err := client.Get(ctx, o.Name, metav1.GetOptions{})
	exists := err == nil
	switch {
	case exists && o.Handling == plan.CreateOnly:
		return "", nil, nil
	case exists:
		err = cluster.Foreign(p.sync, live)
	case apierrors.IsNotFound(err):
		err = nil
	}
	if err != nil {
		return "", nil, err
	}
	applied, err := client.Apply(ctx, o.Name, o.Content(), metav1.ApplyOptions{FieldManager: cluster.Manager(p.sync), Force: true, DryRun: []string{metav1.DryRunAll}})
	switch {
	case !exists && o.Namespace != "" && apierrors.IsNotFound(err):
		return changes.Added, nil, nil
	case exists && err != nil:
		return changes.Changed, nil, p.cluster.TryReplace(ctx, resource, o, err)
	case err != nil:
		return "", nil, err
	case !exists:
		return changes.Added, nil, nil
	}
	if fields := differences(live, applied); len(fields) > 0 {
		return changes.Changed, fields, nil
	}
	return "", nil, nil
}

// volatile are the fields of metadata that the API server sets.
var volatile = []string{"managedFields", "resourceVersion", "generation"}

// differences returns the paths of the fields that differ, without their values.
func differences(before, after *unstructured.Unstructured) []string {
	for _, o := range []*unstructured.Unstructured{before, after} {
		for _, field := range volatile {
			unstructured.RemoveNestedField(o.Object, "metadata", field)
		}
	}
	var paths []string
	compare("", before.Object, after.Object, &paths)
	return paths
}
