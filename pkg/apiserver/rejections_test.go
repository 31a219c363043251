package apiserver

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

func TestRejectionsAreNamedByTheirRule(t *testing.T) {
	resource := hnc.Resource("hierarchies")
	kind := schema.GroupKind{Group: hnc.GroupName, Kind: "Hierarchy"}
	spec := field.NewPath("spec")
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"fields": {
			apierrors.NewInvalid(kind, "hierarchy", field.ErrorList{field.Invalid(spec.Child("parent"), "a", "x"), field.Required(spec.Child("labels").Index(0).Child("key"), "")}),
			"hierarchies: spec.parent, spec.labels[0].key",
		},
		"the same field twice": {
			apierrors.NewInvalid(kind, "hierarchy", field.ErrorList{field.Invalid(spec, "a", "x"), field.Invalid(spec, "b", "x")}), "hierarchies: spec",
		},
		"a long field": {
			apierrors.NewInvalid(kind, "hierarchy", field.ErrorList{field.Required(field.NewPath(strings.Repeat("x", 3000)), "")}),
			"hierarchies: " + names.Truncate(strings.Repeat("x", 3000), names.MaxText),
		},
		"a field without permissions": {apierrors.NewForbidden(resource, "hierarchy", errors.New(`spec.parent: user "u" may not`)), "hierarchies: spec.parent"},
		"a field in conflict":         {apierrors.NewConflict(resource, "hierarchy", errors.New(`spec.propagation[secrets]: would overwrite`)), "hierarchies: spec.propagation[secrets]"},
		"a name in conflict":          {apierrors.NewForbidden(resource, "hierarchy", errors.New(`metadata.namespace: namespace "a" is excluded`)), "hierarchies: metadata.namespace"},
		"a verb":                      {apierrors.NewForbidden(resource, "hierarchy", errors.New(`namespace "a" has children`)), "hierarchies: delete"},
		"an old version":              {apierrors.NewConflict(resource, "hierarchy", errors.New("the object has been modified; please apply your changes to the latest version and try again")), ""},
		"a name that exists":          {apierrors.NewAlreadyExists(resource, "hierarchy"), ""},
		"a policy":                    {apierrors.NewForbidden(resource, "hierarchy", errors.New(`ValidatingAdmissionPolicy 'p' with binding 'b' denied request: spec.parent: no`)), ""},
		"a size":                      {apierrors.NewRequestEntityTooLargeError("a plan"), "hierarchies: size"},
		"a limit":                     {apierrors.NewTooManyRequests("later", 1), "hierarchies: concurrency"},
		"nothing to reject":           {apierrors.NewNotFound(resource, "hierarchy"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var status apierrors.APIStatus
			if !errors.As(test.err, &status) {
				t.Fatal(test.err)
			}
			answered := status.Status()
			got := rejectingRule(&answered, &genericapirequest.RequestInfo{Resource: "hierarchies", Verb: "delete"})
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := rejectingRule(nil, &genericapirequest.RequestInfo{}); got != "" {
		t.Errorf("without a status: %q", got)
	}
	if got := rejectingRule(&metav1.Status{Code: 200}, &genericapirequest.RequestInfo{}); got != "" {
		t.Errorf("of a success: %q", got)
	}
}
