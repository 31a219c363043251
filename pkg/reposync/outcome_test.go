package reposync

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

func TestFailuresHaveCodes(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	for want, err := range map[string]error{
		"KNV2013: configmaps": apierrors.NewForbidden(maps, "a", errors.New(`User "x" cannot patch resource "configmaps" in API group "" in the namespace "a"`)),
		"KNV2009: configmaps": apierrors.NewForbidden(maps, "a", errors.New("exceeded quota: q, requested: configmaps=1")),
		"KNV2016: the":        apierrors.NewTooManyRequests("the server is busy", 1),
		"connection refused":  errors.New("connection refused"),
	} {
		o := &outcome{}
		o.add(plan.ID{Name: "a"}, "", err)
		if got := o.failed[0].Message; !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q ...", got, want)
		}
	}
}
