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
		source, created, claimed int64 // seconds, 0 for none
		want                     bool
	}{
		"the source is older":          {source: 1, created: 2},
		"of the same second":           {source: 2, created: 2},
		"the source is gone":           {created: 2},
		"the source is younger":        {source: 3, created: 2, want: true},
		"an overwritten object":        {source: 3, created: 2, want: true},
		"it claims to be a copy since": {source: 3, created: 2, claimed: 4, want: true},
	} {
		client := fake.NewClientset()
		if row.source != 0 {
			if err := client.Tracker().Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "source", CreationTimestamp: at(row.source)}}); err != nil {
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
		if got, err := c.sourceIsYounger(t.Context(), o, "source"); err != nil || got != row.want {
			t.Errorf("%s: the source is younger: %t, want %t (%v)", name, got, row.want, err)
		}
	}
}
