package subtree

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/warning"
)

// only authorizes requests in one namespace.
type only struct {
	authorizer.Authorizer
	namespace string
}

func (o only) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetNamespace() == o.namespace {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// recorded are warnings.
type recorded []string

func (r *recorded) AddWarning(_, text string) { *r = append(*r, text) }

// Warnings name the namespaces that are left out of a list, but not if the names of namespaces are what is listed.
func TestWarningsDoNotNameNamespacesThatTheCallerMayNotGet(t *testing.T) {
	for ofNamespaces, want := range map[bool]int{true: 0, false: 1} {
		var warnings recorded
		q := &request{root: "a", permissions: permissions{authorizer: only{namespace: "a"}, ofNamespaces: ofNamespaces, attributes: authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "ann"}}}}
		allowed, err := q.allowedNamespaces(warning.WithWarningRecorder(t.Context(), &warnings), []string{"a", "secret"})
		if err != nil || !slices.Equal(allowed, []string{"a"}) || len(warnings) != want {
			t.Errorf("of namespaces %v: got %q, %v, warnings %q", ofNamespaces, allowed, err, warnings)
		}
	}
}
