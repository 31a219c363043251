package treerules

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// Users allowed to write hierarchies only may set other managed labels, but none that could loosen Pod Security.
func TestPodSecurityNeedsThePermissionToPatchTheNamespace(t *testing.T) {
	f := newFixture(t, map[string]string{"a": ""})
	f.config().Authorizer = authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser().GetName() == "admin" && a.GetVerb() == "patch" && a.GetResource() == "namespaces" && a.GetNamespace() == "a" && a.GetName() == "a" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	const enforce = "pod-security.kubernetes.io/enforce"
	restricted, privileged := []hnc.MetaKVP{{Key: "team", Value: "blue"}, {Key: enforce, Value: "restricted"}}, []hnc.MetaKVP{{Key: enforce, Value: "privileged"}}
	for name, change := range map[string][2]SetLabels{
		"set": {{}, {Labels: restricted}}, "loosened": {{Labels: restricted}, {Labels: privileged}}, "removed": {{Labels: restricted}, {}},
		"not inherited any more": {{Labels: restricted}, {NamespaceLabels: restricted}},
	} {
		if err := f.Authorizer.AuthorizePodSecurity(as(t, "user"), hnc.Singleton, "a", change[0], change[1]); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "patch") {
			t.Errorf("%s: got %v, want Forbidden that names the permission", name, err)
		}
		for _, user := range []string{"admin", hnc.PropagatorUser} {
			if err := f.Authorizer.AuthorizePodSecurity(as(t, user), hnc.Singleton, "a", change[0], change[1]); err != nil {
				t.Errorf("%s by %s: %v", name, user, err)
			}
		}
	}
	if err := f.Authorizer.AuthorizePodSecurity(as(t, "user"), hnc.Singleton, "a",
		SetLabels{Labels: restricted}, SetLabels{Labels: append([]hnc.MetaKVP{{Key: "desk", Value: "1"}}, restricted[1:]...)}); err != nil {
		t.Errorf("other labels: %v", err)
	}
}

// A move sheds what hierarchies above set, and brings what others set.
func TestMovesThatChangePodSecurityNeedThePermissionToPatchTheNamespace(t *testing.T) {
	const enforce = "pod-security.kubernetes.io/enforce"
	restricted, privileged := []hnc.MetaKVP{{Key: enforce, Value: "restricted"}}, []hnc.MetaKVP{{Key: enforce, Value: "privileged"}}
	parents := map[string]string{"top": "", "a": "top", "b": "top", "n": "a", "other": "", "loose": ""}
	for _, row := range []struct {
		name, to string
		sets     map[string]hnc.HierarchySpec
		rejected bool
	}{
		{"to a root", "", map[string]hnc.HierarchySpec{"top": {Labels: restricted}}, true},
		{"to a root that sets the same", "", map[string]hnc.HierarchySpec{"top": {Labels: restricted}, "n": {Labels: restricted}}, false},
		{"to a root that sets the same on itself", "", map[string]hnc.HierarchySpec{"top": {Labels: restricted}, "n": {NamespaceLabels: restricted}}, true},
		{"below the same ancestor", "b", map[string]hnc.HierarchySpec{"top": {Labels: restricted}}, false},
		{"away from a parent that sets it for itself", "b", map[string]hnc.HierarchySpec{"a": {NamespaceLabels: restricted}}, false},
		{"below one that loosens", "loose", map[string]hnc.HierarchySpec{"n": {Labels: restricted}, "loose": {Labels: privileged}}, true},
		{"where nothing sets any", "other", map[string]hnc.HierarchySpec{"loose": {Labels: privileged}, "top": {Labels: []hnc.MetaKVP{{Key: "team", Value: "a"}}}}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, parents)
			rules, errs := managedkeys.NewRules(&v1beta1.Rules{ManagedNamespaceLabels: []string{`pod-security\.kubernetes\.io/.*`}}, nil)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			f.config().Rules = func() managedkeys.Rules { return rules }
			f.Authorizer.SetHierarchies(hierarchies(row.sets))
			f.admin["user/top"], f.admin["user/b"], f.admin["user/other"], f.admin["user/loose"] = true, true, true, true
			_, err := f.Moves.Validate(as(t, "user"), f.existing(t, "n"), row.to)
			if row.rejected && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `spec.parent: user "user" may not change the Pod Security labels of namespace "n"`)) || !row.rejected && err != nil {
				t.Errorf("got %v, want rejected=%t", err, row.rejected)
			}
		})
	}
}
