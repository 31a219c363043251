package managed

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Otherwise the labels that a request sets could make a source overwrite what the move was validated without.
func TestH11LooksAtTheLabelsOfTheSameRequest(t *testing.T) {
	const above = "mo-above"
	namespace(t, above)
	namespace(t, "mo-moved")
	namespace(t, "mo-joins", "@"+hnc.AnnotationSubnamespaceOf+"="+above)
	for _, name := range []string{above, "mo-moved", "mo-joins"} {
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "mine"}}
		if name == above {
			role.Annotations = map[string]string{hnc.AnnotationSelect: "team=red"}
		}
		if _, err := root.RbacV1().Roles(name).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	for name, create := range map[string]func(team string) error{
		"a move": func(team string) error {
			h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: above, Labels: pairs("team=" + team)}}
			_, err := root.HNC.HncV1beta1().Hierarchies("mo-moved").Create(t.Context(), h, dry)
			return err
		},
		"a claim": func(team string) error {
			s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "mo-joins"}, Spec: v1beta1.SubnamespaceSpec{Labels: pairs("team=" + team)}}
			_, err := root.HNC.HncV1beta1().Subnamespaces(above).Create(t.Context(), s, dry)
			return err
		},
	} {
		var err error
		suite.EventuallyEqual(t, name+" that would overwrite is refused", "true", func() string {
			if err = create("red"); apierrors.IsConflict(err) {
				return "true"
			}
			return "false"
		})
		refused(t, name, err, apierrors.IsConflict, "would overwrite objects", ": mine (")
		if err := create("blue"); err != nil {
			t.Errorf("%s with another label: %v", name, err)
		}
	}
}
