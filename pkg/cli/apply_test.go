package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

func TestPartsOfATreeAreAppliedParentsFirst(t *testing.T) {
	p := &v1beta1.TreePlacement{}
	for i := maxPlacements + 1; i > 0; i-- {
		p.Spec.Placements = append(p.Spec.Placements, v1beta1.Placement{Namespace: level(i), Parent: level(i - 1)})
	}
	var parts [][]v1beta1.Placement
	client := fake.NewClientset()
	client.PrependReactor("create", "treeplacements", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked := action.(clienttesting.CreateAction).GetObject().(*v1beta1.TreePlacement)
		parts = append(parts, slices.Clone(asked.Spec.Placements))
		if len(parts) == 2 {
			return true, nil, apierrors.NewForbidden(hnc.Resource("hierarchies"), "", errors.New("not yours"))
		}
		done := &v1beta1.TreePlacement{}
		for _, placement := range asked.Spec.Placements {
			done.Status.Moved++
			done.Status.Placements = append(done.Status.Placements, v1beta1.PlacementResult{
				Namespace: placement.Namespace, Parent: placement.Parent, Outcome: v1beta1.PlacementMoved,
			})
		}
		return true, done, nil
	})
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	err := (&applyOptions{IOStreams: streams}).apply(t.Context(), &clients{hierarchy: client}, p)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), fmt.Sprintf("after %d namespaces have been moved", maxPlacements)) {
		t.Errorf("got %v", err)
	}
	if len(parts) != 2 || len(parts[0]) != maxPlacements || parts[0][0].Namespace != level(1) || parts[1][0].Namespace != level(maxPlacements+1) {
		t.Errorf("got %d parts", len(parts))
	}
	for _, want := range []string{"Moved n0001 below n0000\n", "namespaces moved: 1000, unchanged: 0\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output has no %q", want)
		}
	}
}
