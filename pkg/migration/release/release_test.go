package release

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Whoever may patch a namespace can do so hundreds of times a second.
func TestFinalizersGoFromNamespacesThatChangeAllTheTime(t *testing.T) {
	kube := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"example.com/other", hnc.FinalizerSubnamespaces}}})
	kube.PrependReactor("update", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(corev1.Resource("namespaces"), "a", errors.New("it has been changed"))
	})
	if err := Namespaces(t.Context(), kube, "test"); err != nil {
		t.Fatal(err)
	}
	if a, err := kube.CoreV1().Namespaces().Get(t.Context(), "a", metav1.GetOptions{}); err != nil || !slices.Equal(a.Finalizers, []string{"example.com/other"}) {
		t.Errorf("got %v, %v", a.Finalizers, err)
	}
}
