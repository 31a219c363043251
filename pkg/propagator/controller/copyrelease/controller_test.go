package copyrelease

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
)

// A tenant may claim the name of a source that is gone.
func TestACopyIsOlderThanANamespaceOfItsSourcesName(t *testing.T) {
	at := func(second int64) metav1.Time { return metav1.NewTime(time.Unix(second, 0)) }
	for name, row := range map[string]struct {
		source, created, labeled int64 // seconds, 0 for none
		field                    string
		want                     bool
	}{
		"the source is older":            {source: 1, created: 2},
		"of the same second":             {source: 2, created: 2},
		"the source is gone":             {created: 2},
		"the source is younger":          {source: 3, created: 2, want: true},
		"an overwritten object":          {source: 3, created: 2, labeled: 4, field: hnc.LabelInheritedFrom},
		"it was overwritten before":      {source: 5, created: 2, labeled: 4, field: hnc.LabelInheritedFrom, want: true},
		"something else was written now": {source: 3, created: 2, labeled: 4, field: "example.com/any", want: true},
	} {
		client := fake.NewClientset()
		if row.source != 0 {
			if err := client.Tracker().Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "source", CreationTimestamp: at(row.source)}}); err != nil {
				t.Fatal(err)
			}
		}
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetCreationTimestamp(at(row.created))
		if row.labeled != 0 {
			labeled := at(row.labeled)
			o.SetManagedFields([]metav1.ManagedFieldsEntry{{Time: &labeled, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:` + row.field + `":{}}}}`)}})
		}
		c := New(controller.Dependencies{Kubernetes: client}, nil)
		if got, err := c.sourceIsYounger(t.Context(), o, "source"); err != nil || got != row.want {
			t.Errorf("%s: the source is younger: %t, want %t (%v)", name, got, row.want, err)
		}
	}
}
