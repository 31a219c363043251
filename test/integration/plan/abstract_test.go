package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestPlanShowsTheLabelsOfAbstractAncestors(t *testing.T) {
	namespace(t, "directory", "")
	namespace(t, "directory-child", "directory")
	spec := v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeAbstractAncestors, AbstractAncestors: []string{"directory-eng"}}
	frank := editor(t, "frank", "directory")
	if status, err := ask(t, frank, "directory", spec, 0); err != nil || len(status.Refusals) == 0 || len(status.Namespaces) > 0 || status.Summary.Namespaces > 0 ||
		!strings.Contains(status.Refusals[len(status.Refusals)-1].Message, "hierarchies/abstract") {
		t.Errorf("without the permission: %+v, %v", status, err)
	}
	want := []string{"directory directory-eng.tree.hnc.x-k8s.io/depth >1", "directory-child directory-eng.tree.hnc.x-k8s.io/depth >2"}
	suite.Eventually(t, "the labels", func() error {
		status, err := ask(t, alice, "directory", spec, 0)
		if err != nil {
			return err
		}
		var got []string
		for _, n := range status.Namespaces {
			for _, l := range n.Labels {
				got = append(got, fmt.Sprintf("%s %s %s>%s", n.Name, l.Key, l.Before, l.After))
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("got %v: %+v", got, status)
		}
		return nil
	})
	for what, names := range map[string][]string{"a namespace": {"directory-child"}, "itself": {"directory"}, "excluded": {"kube-system"}} {
		spec.AbstractAncestors = names
		if status, err := ask(t, alice, "directory", spec, 0); err != nil || len(status.Refusals) == 0 {
			t.Errorf("%s: %+v, %v", what, status, err)
		}
	}
	spec.AbstractAncestors = []string{"directory-eng"}
	if status, err := ask(t, alice, "directory-child", spec, 0); err != nil || len(status.Refusals) == 0 {
		t.Errorf("of a child: %+v, %v", status, err)
	}
	spec.Change = v1alpha3.ChangeParent
	if _, err := ask(t, alice, "directory", spec, 0); !apierrors.IsInvalid(err) {
		t.Errorf("with another change: %v", err)
	}
	if h, err := admin.HNC.HncV1beta1().Hierarchies("directory").Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); err == nil && len(h.Spec.AbstractAncestors) > 0 {
		t.Errorf("a plan was stored: %+v", h.Spec)
	}
}
