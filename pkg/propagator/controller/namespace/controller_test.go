package namespace

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	componentmetrics "k8s.io/component-base/metrics"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// The owner of a namespace fills its annotations to the limit, so that its labels stay those of its old tree.
func TestLabelsAreWrittenAlthoughAnnotationsAreTooLarge(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "full", UID: "u"}})
	client.PrependReactor("patch", "namespaces", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if bytes.Contains(action.(clientgotesting.PatchAction).GetPatch(), []byte("annotations")) {
			return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Namespace"}, "full", nil)
		}
		return false, nil, nil
	})
	c := New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managed.Default()}), Kubernetes: client,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	})
	err := c.Patch(t.Context(), &tree.Namespace{Name: "full", UID: "u"}, Changes{
		Labels: map[string]*string{"new": ptr.To("1")}, Annotations: map[string]*string{"large": ptr.To("1")},
	})
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want the error of the annotations", err)
	}
	ns, err := client.CoreV1().Namespaces().Get(t.Context(), "full", metav1.GetOptions{})
	if err != nil || ns.Labels["new"] != "1" {
		t.Errorf("got the labels %v, %v", ns.Labels, err)
	}
}
