package treerules

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestAuthorizeRelease(t *testing.T) {
	settings := hnc.CopyReleaseSpec{Resource: "configmaps", Name: "settings", Source: "a"}
	for name, row := range map[string]struct {
		spec        hnc.CopyReleaseSpec
		mode        v1beta1.SynchronizationMode
		permissions string
		is          func(error) bool
		says        string
	}{
		"with both permissions": {settings, v1beta1.Ignore, "configmaps/b hierarchies/a", nil, ""},
		"the other name":        {settings, v1beta1.Ignore, "configmaps/b hierarchyconfigurations/a", nil, ""},
		"not the object":        {settings, v1beta1.Ignore, "configmaps/a hierarchies/a hierarchies/b", apierrors.IsForbidden, `needs the verb update on it`},
		"not the source":        {settings, v1beta1.Ignore, "configmaps/b hierarchies/b", apierrors.IsForbidden, `namespace "a", which is the source of the copy`},
		"a source that is gone": {hnc.CopyReleaseSpec{Resource: "configmaps", Name: "settings", Source: "gone"}, v1beta1.Ignore, "configmaps/b hierarchies/a hierarchies/b", apierrors.IsForbidden, `namespace "gone", which is the source of the copy`},
		// A review may be older than the end of the namespace.
		"once admin of a source that is gone": {hnc.CopyReleaseSpec{Resource: "configmaps", Name: "settings", Source: "gone"}, v1beta1.Ignore, "configmaps/b hierarchies/gone", apierrors.IsForbidden, `namespace "gone", which is the source of the copy`},
		"a source that is gone, everywhere":   {hnc.CopyReleaseSpec{Resource: "configmaps", Name: "settings", Source: "gone"}, v1beta1.Ignore, "configmaps/b hierarchies/", nil, ""},
		"a kind still propagated":             {settings, v1beta1.Propagate, "configmaps/b hierarchies/a", apierrors.IsConflict, "the mode of configmaps from namespace \"a\" is Propagate"},
		"a kind being removed":                {settings, v1beta1.Remove, "configmaps/b hierarchies/a", apierrors.IsConflict, "set the mode to Ignore first"},
		"a RoleBinding": {hnc.CopyReleaseSpec{Group: "rbac.authorization.k8s.io", Resource: "rolebindings", Name: "x", Source: "a"}, v1beta1.Ignore,
			"rolebindings/b hierarchies/a", apierrors.IsForbidden, "always propagated"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, forestOfRows)
			f.config().Sources = &conflicting{mode: row.mode}
			f.config().Authorizer = authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
				if a.GetVerb() == "update" && strings.Contains(" "+row.permissions+" ", " "+a.GetResource()+"/"+a.GetNamespace()+" ") {
					return authorizer.DecisionAllow, "", nil
				}
				return authorizer.DecisionNoOpinion, "", nil
			})
			release := func() (types.UID, error) {
				return f.Authorizer.AuthorizeRelease(as(t, "user"), &hnc.CopyRelease{Spec: row.spec}, "b")
			}
			source, err := release()
			if row.is == nil {
				if err != nil || (source == "") != (row.spec.Source == "gone") {
					t.Errorf("got %q, %v", source, err)
				}
				f.config().Sources.(*conflicting).unread = true
				if _, err := release(); !apierrors.IsServiceUnavailable(err) {
					t.Errorf("before the modes are known: %v", err)
				}
				return
			}
			if !row.is(err) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v, want an error that says %s", err, row.says)
			}
		})
	}
}
