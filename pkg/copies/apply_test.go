package copies

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var resource = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}

// script is a client that answers with errors in order, and records what it was asked.
type script struct {
	errs  []error
	calls []string
}

func (s *script) answer(call string) error {
	s.calls = append(s.calls, call)
	if len(s.errs) == 0 {
		return nil
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return err
}

func (s *script) Create(context.Context, Kind, string, []byte) (Written, error) {
	return Written{UID: "new"}, s.answer("create")
}

func (s *script) Update(context.Context, Kind, string, string, []byte) (Written, error) {
	return Written{UID: "same"}, s.answer("update")
}

func (s *script) Delete(context.Context, Kind, string, string, types.UID) error {
	return s.answer("delete")
}

func (s *script) DeleteCopies(_ context.Context, _ Kind, namespace, from string) error {
	return s.answer("delete copies from " + from + " in " + namespace)
}

// A request to delete a single object contains its name.
func TestCopyWhoseNameIsTooLongForARequestIsDeletedWithItsSiblings(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("?", 253): "delete", strings.Repeat("?", 254): "delete copies from root in child", strings.Repeat("L", 380000): "delete copies from root in child",
	} {
		s := &script{}
		copied := &Object{Namespace: "child", Name: name, Copy: true, InheritedFrom: "root", fitness: ofCopies}
		if _, err := Apply(t.Context(), s, Write{Verb: Delete, Kind: Kinds[1], Namespace: "child", Name: name, Present: copied}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.calls, []string{want}) {
			t.Errorf("a name of %d bytes: %q, want %q", len(name), s.calls, want)
		}
	}
}

func TestSourceWhoseNameIsTooLongIsNotCopied(t *testing.T) {
	for length, fit := range map[int]bool{1: true, 253: true, 254: false, 380000: false} {
		o := NewSource(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "root", Name: strings.Repeat("?", length)}}, Kinds[1], &Rules{})
		if o.Fit() != fit || o.Unaddressable() == fit || o.Notable(nil) == fit {
			t.Errorf("a name of %d bytes: fit %v, unaddressable %v, notable %v", length, o.Fit(), o.Unaddressable(), o.Notable(nil))
		}
		if reference := o.Reference(Kinds[1]); len(reference.Name) > 253 {
			t.Errorf("an event refers to a name of %d bytes", len(reference.Name))
		}
	}
}

func TestAnInvalidUpdateReplacesARoleBindingOnly(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{}, "x", nil)
	gone := apierrors.NewNotFound(resource, "x")
	refused := apierrors.NewForbidden(resource, "x", nil)
	for name, test := range map[string]struct {
		kind  Kind
		errs  []error
		calls []string
		ok    bool
	}{
		"a valid one":            {Kinds[1], nil, []string{"update"}, true},
		"a role":                 {Kinds[0], []error{invalid}, []string{"update"}, false},
		"a binding":              {Kinds[1], []error{invalid}, []string{"update", "delete", "create"}, true},
		"a binding that is gone": {Kinds[1], []error{invalid, gone}, []string{"update", "delete", "create"}, true},
		"a binding that stays":   {Kinds[1], []error{invalid, refused}, []string{"update", "delete"}, false},
		"a conflict":             {Kinds[1], []error{apierrors.NewConflict(resource, "x", nil)}, []string{"update"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			client := &script{errs: test.errs}
			_, err := Apply(t.Context(), client, Write{Verb: Update, Kind: test.kind, Source: role(t, "root", "x", "get"), Present: &Object{}})
			if !slices.Equal(client.calls, test.calls) || (err == nil) != test.ok {
				t.Errorf("calls %v, error %v", client.calls, err)
			}
		})
	}
}

func TestWhatFollowsFromAnError(t *testing.T) {
	terminating := apierrors.NewForbidden(resource, "x", nil)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	unserved := apierrors.NewGenericServerResponse(http.StatusNotFound, "post", resource, "", "404 page not found", 0, true)
	for name, test := range map[string]struct {
		verb Verb
		err  error
		want Outcome
	}{
		"none":                           {Create, nil, Done},
		"the namespace terminates":       {Create, terminating, Done},
		"the namespace is gone":          {Create, apierrors.NewNotFound(resource, "x"), Done},
		"the kind is not served":         {Create, unserved, Failed},
		"the kind is served no more":     {Update, unserved, Failed},
		"the copy is gone":               {Update, apierrors.NewNotFound(resource, "x"), Stale},
		"the copy was there":             {Create, apierrors.NewAlreadyExists(resource, "x"), Stale},
		"the copy was changed":           {Update, apierrors.NewConflict(resource, "x", nil), Stale},
		"escalation":                     {Create, apierrors.NewForbidden(resource, "x", nil), Refused},
		"invalid":                        {Create, apierrors.NewInvalid(schema.GroupKind{}, "x", nil), Refused},
		"too many requests":              {Create, apierrors.NewTooManyRequests("later", 1), Failed},
		"a webhook of somebody's fails":  {Create, apierrors.NewInternalError(errors.New("x")), Refused},
		"BAD-14 too large for etcd":      {Create, &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "etcdserver: request is too large"}}, Refused},
		"the server is away":             {Create, apierrors.NewServiceUnavailable("later"), Failed},
		"the server takes too long":      {Create, apierrors.NewTimeoutError("later", 1), Failed},
		"the network":                    {Create, errors.New("connection refused"), Failed},
		"a delete of somebody else's is": {Delete, apierrors.NewConflict(resource, "x", nil), Stale},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Classify(test.verb, test.err); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
