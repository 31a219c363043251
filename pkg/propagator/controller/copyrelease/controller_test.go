package copyrelease

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// A tenant may claim the name of a source that is gone, also once before it is gone.
func TestOnlyTheNamespaceThatACopyCameFromReleasesIt(t *testing.T) {
	at := func(second int64) metav1.Time { return metav1.NewTime(time.Unix(second, 0)) }
	for name, row := range map[string]struct {
		source, created, claimed int64 // seconds, 0 for none
		authorized               string
		want                     string
	}{
		"the source is older":          {source: 1, created: 2, authorized: "uid"},
		"of the same second":           {source: 2, created: 2, authorized: "uid"},
		"the source is gone":           {created: 2},
		"the source is younger":        {source: 3, created: 2, authorized: "uid", want: "younger"},
		"an overwritten object":        {source: 3, created: 2, authorized: "uid", want: "younger"},
		"gone since it was authorized": {created: 2, authorized: "uid", want: "request it again"},
		"claimed since":                {source: 1, created: 2, want: "request it again"},
		"another one since":            {source: 1, created: 2, authorized: "other", want: "request it again"},
		"it claims to be a copy since": {source: 3, created: 2, claimed: 4, authorized: "uid", want: "younger"},
	} {
		client := fake.NewClientset()
		if row.source != 0 {
			if err := client.Tracker().Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "source", UID: "uid", CreationTimestamp: at(row.source)}}); err != nil {
				t.Fatal(err)
			}
		}
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetCreationTimestamp(at(row.created))
		if row.claimed != 0 {
			claimed := at(row.claimed)
			o.SetManagedFields([]metav1.ManagedFieldsEntry{{Time: &claimed, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:` + hnc.LabelInheritedFrom + `":{}}}}`)}})
		}
		c := New(controller.Dependencies{Kubernetes: client}, nil)
		r := &v1alpha3.CopyRelease{Spec: v1alpha3.CopyReleaseSpec{Resource: "configmaps", Source: "source"}}
		metav1.SetMetaDataAnnotation(&r.ObjectMeta, hnc.AnnotationSourceUID, row.authorized)
		if got, err := c.refusesSource(t.Context(), r, o); err != nil || (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, row.want)
		}
	}
}

// Policy from above does not overwrite the objects of a RepositorySync, whose label only its account may set.
func TestReleasedCopiesBelongToNoRepository(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetLabels(map[string]string{hnc.LabelInheritedFrom: "source", hnc.LabelRepositorySync: "policy", "app": "a"})
	o.SetAnnotations(map[string]string{hnc.AnnotationSourcePath: "namespaces/a.yaml", "note": "n"})
	strip(o)
	if labels, annotations := o.GetLabels(), o.GetAnnotations(); !maps.Equal(labels, map[string]string{"app": "a"}) || !maps.Equal(annotations, map[string]string{"note": "n"}) {
		t.Errorf("got %v, %v", labels, annotations)
	}
}

// A backup, or an etcd whose leases have started again, has releases whose requesters may have lost their permissions.
func TestAReleaseThatHasExpiredIsRefused(t *testing.T) {
	asked := errors.New("the kinds of the cluster are read")
	for age, want := range map[time.Duration]error{9 * time.Minute: asked, 11 * time.Minute: nil} {
		r := &v1alpha3.CopyRelease{ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: "r", CreationTimestamp: metav1.NewTime(time.Now().Add(-age))}}
		client := hncfake.NewSimpleClientset(r)
		c := New(controller.Dependencies{Hierarchy: client}, func(context.Context) (configuration.Cluster, error) { return configuration.Cluster{}, asked })
		if err := c.Reconcile(t.Context(), queue.Key{Class: queue.Release, Namespace: r.Namespace, Name: r.Name}); !errors.Is(err, want) {
			t.Errorf("after %s: got %v, want %v", age, err, want)
		}
		r, err := client.HncV1alpha3().CopyReleases(r.Namespace).Get(t.Context(), r.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		refused := len(r.Status.Conditions) == 1 && r.Status.Conditions[0].Reason == hnc.ReasonReleaseRefused
		if refused != (want == nil) {
			t.Errorf("after %s: got %v", age, r.Status.Conditions)
		}
	}
}
