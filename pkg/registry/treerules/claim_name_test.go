package treerules

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestNamingRule(t *testing.T) {
	for name, row := range map[string]struct {
		rule  *hnc.SubnamespaceNames
		child string
		says  string
	}{
		"no rule":                       {nil, "argocd", ""},
		"an empty rule":                 {&hnc.SubnamespaceNames{Prefix: hnc.NoPrefix}, "argocd", ""},
		"the parent's prefix":           {&hnc.SubnamespaceNames{Prefix: hnc.ParentPrefix}, "a-new", ""},
		"no prefix":                     {&hnc.SubnamespaceNames{Prefix: hnc.ParentPrefix}, "argocd", `metadata.name: the name of a new sub-namespace must start with "a-"`},
		"a match":                       {&hnc.SubnamespaceNames{Pattern: "team-.+|yy"}, "yy", ""},
		"a match of the beginning":      {&hnc.SubnamespaceNames{Pattern: "team-.+|yy"}, "yyargocd", `must match "team-.+|yy"`},
		"a match of the end":            {&hnc.SubnamespaceNames{Pattern: "team-.+|yy"}, "ateam-b", "spec.subnamespaceNames.pattern"},
		"prefix and pattern":            {&hnc.SubnamespaceNames{Pattern: ".*[0-9]", Prefix: hnc.ParentPrefix}, "a-x", "must match"},
		"a sub-namespace that is there": {&hnc.SubnamespaceNames{Prefix: hnc.ParentPrefix}, "sub", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, forestOfRows)
			f.config().SubnamespaceNames = func(context.Context) (*hnc.SubnamespaceNames, error) { return row.rule, nil }
			for _, user := range []string{"nobody", hnc.PropagatorUser} {
				_, err := f.Claims.Validate(as(t, user), row.child, f.existing(t, "a"))
				switch {
				case row.says == "" && err != nil:
					t.Errorf("%s: got %v", user, err)
				case row.says != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), row.says)):
					t.Errorf("%s: got %v, want Forbidden that says %s", user, err, row.says)
				}
			}
		})
	}
}
