package cli

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

func TestChildrenWithoutPermissionForSubnamespaces(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "subnamespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(`User "u" cannot list resource "subnamespaces" in API group "hnc.x-k8s.io" in the namespace "acme"`))
	})
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "acme"}, Status: v1beta1.HierarchyStatus{Children: []string{"team-a"}}}
	children, note, err := (&uiReader{clients: &Clients{Hierarchy: client}}).children(t.Context(), h)
	if err != nil || len(children) != 1 || !strings.Contains(note, "missing permission: list subnamespaces.hnc.x-k8s.io in namespace acme") {
		t.Errorf("children %v, note %q, error %v", children, note, err)
	}
}
