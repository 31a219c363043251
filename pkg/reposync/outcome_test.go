package reposync

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

func TestFailuresHaveCodesAndRemedies(t *testing.T) {
	const remedy = "; grant this to the account of spec.serviceAccount, by a ClusterRoleBinding"
	maps := schema.GroupResource{Resource: "configmaps"}
	forbidden := apierrors.NewForbidden(maps, "a", errors.New(`User "x" cannot patch resource "configmaps" in API group "" in the namespace "a"`))
	for _, test := range []struct {
		err                     error
		namespace, begins, ends string
	}{
		{forbidden, "a", "KNV2013: configmaps", remedy + " if the repository creates the namespace"},
		{forbidden, "", "KNV2013: configmaps", remedy},
		{apierrors.NewForbidden(maps, "a", errors.New("exceeded quota: q, requested: configmaps=1")), "a", "KNV2009: configmaps", "configmaps=1"},
		{apierrors.NewTooManyRequests("the server is busy", 1), "a", "KNV2016: the", "is busy"},
		{errors.New("connection refused"), "a", "connection refused", "connection refused"},
	} {
		o := &outcome{}
		o.add(plan.ID{Namespace: test.namespace, Name: "a"}, "", test.err)
		if got := o.failed[0].Message; !strings.HasPrefix(got, test.begins) || !strings.HasSuffix(got, test.ends) {
			t.Errorf("got %q, want %q ... %q", got, test.begins, test.ends)
		}
	}
}

// TestOutcomesKeepTheFirstFailures has many failures in any order, of which only some are in the status.
func TestOutcomesKeepTheFirstFailures(t *testing.T) {
	const all = 1000
	o := &outcome{}
	for i := range all {
		// A permutation, as 7 and 1000 have no common divisor.
		o.add(plan.ID{Kind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: fmt.Sprintf("n%03d", 7*i%all)}, "", errors.New("rejected"))
		if len(o.failed) > maxReported || cap(o.failed) > 4*maxReported {
			t.Fatalf("%d failures are kept, in room for %d", len(o.failed), cap(o.failed))
		}
	}
	o.conclude()
	if o.failures != all || !strings.HasPrefix(o.message, "1000 of 1000 writes have failed; the first: ConfigMap n000/") {
		t.Errorf("got %d failures: %s", o.failures, o.message)
	}
	for i, failure := range o.failed {
		if failure.Namespace != fmt.Sprintf("n%03d", i) || failure.Message != "rejected" {
			t.Errorf("failure %d is %+v", i, failure)
		}
	}
	if len(o.failed) != maxReported {
		t.Errorf("%d failures are kept", len(o.failed))
	}
}
