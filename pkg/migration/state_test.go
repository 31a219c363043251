package migration

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Of two processes that begin at the same time, one continues. The other one has changed nothing.
func TestTwoMigrationsBegin(t *testing.T) {
	c := &clients{kube: fake.NewClientset(), dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())}
	first, err := newState(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newState(t.Context(), c); err == nil || !strings.Contains(err.Error(), "another process has just begun this migration; run only one") {
		t.Errorf("got %v", err)
	}
	stored, err := c.kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Get(t.Context(), hnc.Migration, metav1.GetOptions{})
	if err != nil || stored.Data[keyBackup] != first.stored.Data[keyBackup] {
		t.Errorf("the state is %v, %v", stored, err)
	}
}
