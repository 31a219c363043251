package tree

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Users allowed to write hierarchies only may set other managed labels, but none that could loosen Pod Security.
func TestPodSecurityNeedsTheRightToPatchTheNamespace(t *testing.T) {
	f := newFixture(t, map[string]string{"a": ""})
	f.config().Authorizer = authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser().GetName() == "admin" && a.GetVerb() == "patch" && a.GetResource() == "namespaces" && a.GetNamespace() == "a" && a.GetName() == "a" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	const enforce = "pod-security.kubernetes.io/enforce"
	restricted, privileged := []hnc.MetaKVP{{Key: "team", Value: "blue"}, {Key: enforce, Value: "restricted"}}, []hnc.MetaKVP{{Key: enforce, Value: "privileged"}}
	for name, change := range map[string][2][]hnc.MetaKVP{
		"set": {nil, restricted}, "loosened": {restricted, privileged}, "removed": {restricted, nil},
	} {
		if err := f.Authorizer.AuthorizePodSecurity(as(t, "user"), hnc.Singleton, "a", change[0], change[1]); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "patch") {
			t.Errorf("%s: got %v, want Forbidden that names the right", name, err)
		}
		for _, user := range []string{"admin", hnc.PropagatorUser} {
			if err := f.Authorizer.AuthorizePodSecurity(as(t, user), hnc.Singleton, "a", change[0], change[1]); err != nil {
				t.Errorf("%s by %s: %v", name, user, err)
			}
		}
	}
	if err := f.Authorizer.AuthorizePodSecurity(as(t, "user"), hnc.Singleton, "a", restricted, append([]hnc.MetaKVP{{Key: "desk", Value: "1"}}, restricted[1:]...)); err != nil {
		t.Errorf("other labels: %v", err)
	}
}
