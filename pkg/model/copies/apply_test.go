package copies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var resource = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}

// script is a client that answers with errors in order, and records what it was asked.
type script struct {
	errs  []error
	calls []string
	// from is where the object is inherited from when it is read, and version how often it was.
	from    string
	version int
	// updated are the versions that updates have named, "" for any.
	updated []string
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

func (s *script) Update(_ context.Context, _ Kind, _, _ string, body []byte) (Written, error) {
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &object); err != nil {
		return Written{}, err
	}
	s.updated = append(s.updated, object.ResourceVersion)
	return Written{UID: "same"}, s.answer("update")
}

func (s *script) TryCreate(context.Context, Kind, string, []byte) error { return s.answer("try") }

func (s *script) TryUpdate(context.Context, Kind, string, string, []byte) error {
	return s.answer("try update")
}

func (s *script) Delete(_ context.Context, _ Kind, _, _ string, present Written) error {
	return s.answer(strings.TrimSpace("delete " + string(present.UID) + " " + present.ResourceVersion))
}

func (s *script) Read(context.Context, Kind, string, string) (Written, string, error) {
	s.version++
	return Written{"u", fmt.Sprint("v", s.version)}, s.from, nil
}

// A user may replace a copy, under its UID, between the decision to delete it and the deletion. To change one all the
// time does not keep it.
func TestACopyIsDeletedUnlessItHasBecomeALocalObject(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "x", errors.New("changed"))
	for name, test := range map[string]struct {
		errs  []error
		from  string
		calls string
		want  error
	}{
		"unchanged":        {nil, "root", "delete u v", nil},
		"changed":          {[]error{conflict}, "root", "delete u v, delete u v1", nil},
		"changed often":    {[]error{conflict, conflict, conflict}, "root", "delete u v, delete u v1, delete u v2, delete u", nil},
		"a local object":   {[]error{conflict}, "", "delete u v", conflict},
		"of other origins": {[]error{conflict}, "mid", "delete u v", conflict},
	} {
		s := &script{errs: test.errs, from: test.from}
		copied := &Object{Namespace: "child", Name: "x", UID: "u", ResourceVersion: "v", Copy: true, InheritedFrom: "root", fitness: ofCopies}
		_, err := Apply(t.Context(), s, Write{Verb: Delete, Kind: RoleBindings, Namespace: "child", Name: "x", Present: copied})
		if got := strings.Join(s.calls, ", "); got != test.calls || !errors.Is(err, test.want) {
			t.Errorf("%s: %s (%v), want %s", name, got, err, test.calls)
		}
	}
}

// Users may change the owner references or the status of a copy, all the time.
func TestACopyIsUpdatedUnlessItHasBecomeALocalObject(t *testing.T) {
	conflict, taken := apierrors.NewConflict(resource, "x", errors.New("changed")), apierrors.NewAlreadyExists(resource, "x")
	versionless := apierrors.NewInvalid(schema.GroupKind{}, "x", field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")})
	immutable := apierrors.NewInvalid(schema.GroupKind{}, "x", field.ErrorList{field.Invalid(field.NewPath("roleRef"), "", "cannot change roleRef")})
	const often = "update, update, update, update"
	for name, test := range map[string]struct {
		kind    Kind
		local   bool
		errs    []error
		from    string
		calls   string
		updated []string
		want    error
	}{
		"unchanged":     {Roles, false, nil, "root", "update", []string{"v"}, nil},
		"changed":       {Roles, false, []error{conflict}, "root", "update, update", []string{"v", "v1"}, nil},
		"changed often": {Roles, false, []error{conflict, conflict, conflict}, "root", often, []string{"v", "v1", "v2", ""}, nil},
		"changed often, of a kind that needs a version": {Roles, false, []error{conflict, conflict, conflict, versionless}, "root", often, []string{"v", "v1", "v2", ""}, versionless},
		"changed often, and invalid":                    {Roles, false, []error{conflict, conflict, conflict, immutable}, "root", often, []string{"v", "v1", "v2", ""}, immutable},
		"changed often, and to be replaced":             {RoleBindings, false, []error{conflict, conflict, conflict, immutable, taken, conflict}, "root", often + ", try, delete u v, delete u v4, create", []string{"v", "v1", "v2", ""}, nil},
		"a local object":                                {Roles, false, []error{conflict}, "", "update", []string{"v"}, conflict},
		"of another origin":                             {Roles, false, []error{conflict}, "mid", "update", []string{"v"}, conflict},
		"a local object before":                         {Roles, true, []error{conflict}, "", "update", []string{"v"}, conflict},
	} {
		s, present := &script{errs: test.errs, from: test.from}, &Object{Namespace: "child", Name: "x", UID: "u", ResourceVersion: "v"}
		if !test.local {
			present.Copy, present.InheritedFrom = true, "root"
		}
		_, err := Apply(t.Context(), s, Write{Verb: Update, Kind: test.kind, Namespace: "child", Name: "x", Source: role(t, "root", "x", "get"), Present: present})
		if got := strings.Join(s.calls, ", "); got != test.calls || !slices.Equal(s.updated, test.updated) || !errors.Is(err, test.want) {
			t.Errorf("%s: %s of %q (%v), want %s", name, got, s.updated, err, test.calls)
		}
	}
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
		if _, err := Apply(t.Context(), s, Write{Verb: Delete, Kind: RoleBindings, Namespace: "child", Name: name, Present: copied}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.calls, []string{want}) {
			t.Errorf("a name of %d bytes: %q, want %q", len(name), s.calls, want)
		}
	}
}

func TestSourceWhoseNameIsTooLongIsNotCopied(t *testing.T) {
	for length, fit := range map[int]bool{1: true, 253: true, 254: false, 380000: false} {
		o := NewSource(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "root", Name: strings.Repeat("?", length)}}, RoleBindings, &Rules{})
		if o.Fit() != fit || o.Unaddressable() == fit || o.Notable(nil) == fit {
			t.Errorf("a name of %d bytes: fit %v, unaddressable %v, notable %v", length, o.Fit(), o.Unaddressable(), o.Notable(nil))
		}
		if reference := o.Reference(RoleBindings); len(reference.Name) > 253 {
			t.Errorf("an event refers to a name of %d bytes", len(reference.Name))
		}
	}
}

func TestAnInvalidUpdateReplacesDataAndRoleBindingsOnly(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{}, "x", nil)
	gone := apierrors.NewNotFound(resource, "x")
	taken := apierrors.NewAlreadyExists(resource, "x")
	refused := apierrors.NewForbidden(resource, "x", nil)
	full := apierrors.NewForbidden(resource, "x", errors.New("exceeded quota: q"))
	named := apierrors.NewForbidden(resource, "is forbidden: exceeded quota: q", errors.New("denied"))
	core := func(resource string) Kind {
		return Kind{GroupVersionResource: corev1.SchemeGroupVersion.WithResource(resource)}
	}
	replaced := []string{"update", "try", "delete u 7", "create"}
	for name, test := range map[string]struct {
		kind  Kind
		errs  []error
		calls []string
		want  error
		// halfway reports that the object may have been deleted.
		halfway bool
	}{
		"a valid update":                     {RoleBindings, nil, []string{"update"}, nil, false},
		"a role":                             {Roles, []error{invalid}, []string{"update"}, invalid, false},
		"a service":                          {core("services"), []error{invalid}, []string{"update"}, invalid, false},
		"a binding":                          {RoleBindings, []error{invalid, taken}, replaced, nil, false},
		"a secret":                           {core("secrets"), []error{invalid, taken}, replaced, nil, false},
		"a config map":                       {core("configmaps"), []error{invalid, taken}, replaced, nil, false},
		"one that is gone":                   {RoleBindings, []error{invalid, nil, gone}, replaced, nil, false},
		"one that stays":                     {RoleBindings, []error{invalid, taken, refused}, replaced[:3], refused, true},
		"one that has changed":               {RoleBindings, []error{invalid, taken, apierrors.NewConflict(resource, "x", nil)}, replaced[:3], apierrors.NewConflict(resource, "x", nil), true},
		"content that is invalid anyway":     {RoleBindings, []error{invalid, invalid}, replaced[:2], invalid, false},
		"content that a policy rejects":      {RoleBindings, []error{invalid, refused}, replaced[:2], refused, false},
		"content with the name of an error":  {RoleBindings, []error{invalid, named}, replaced[:2], named, false},
		"in a namespace whose quota is full": {RoleBindings, []error{invalid, full}, replaced, nil, false},
		"one that cannot be created":         {RoleBindings, []error{invalid, taken, nil, refused}, replaced, refused, true},
		"a conflict":                         {RoleBindings, []error{apierrors.NewConflict(resource, "x", nil)}, []string{"update"}, apierrors.NewConflict(resource, "x", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			client := &script{errs: test.errs}
			w := Write{Verb: Update, Kind: test.kind, Source: role(t, "root", "x", "get"), Present: &Object{UID: "u", ResourceVersion: "7"}}
			_, err := Apply(t.Context(), client, w)
			if !slices.Equal(client.calls, test.calls) || apierrors.ReasonForError(err) != apierrors.ReasonForError(test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("calls %v, error %v", client.calls, err)
			}
			if halfway := errors.As(err, &ReplaceError{}); halfway != test.halfway {
				t.Errorf("may have been deleted: %t, want %t", halfway, test.halfway)
			}
		})
	}
}

// What is kept of the object for the overwrite costs other records.
func TestAnOverwriteIsTriedAsItIsMade(t *testing.T) {
	invalid, taken, refused := apierrors.NewInvalid(schema.GroupKind{}, "x", nil), apierrors.NewAlreadyExists(resource, "x"), apierrors.NewForbidden(resource, "x", nil)
	for name, test := range map[string]struct {
		kind  Kind
		errs  []error
		calls string
		want  error
	}{
		"accepted":                        {RoleBindings, nil, "try update", nil},
		"rejected":                        {RoleBindings, []error{refused}, "try update", refused},
		"replaced":                        {RoleBindings, []error{invalid, taken}, "try update, try", nil},
		"the replacement is rejected":     {RoleBindings, []error{invalid, refused}, "try update, try", refused},
		"without dry run":                 {RoleBindings, []error{apierrors.NewBadRequest("x")}, "try update", nil},
		"invalid, and cannot be replaced": {Roles, []error{invalid}, "try update", invalid},
	} {
		client := &script{errs: test.errs}
		err := Try(t.Context(), client, Write{Verb: Update, Kind: test.kind, Source: role(t, "root", "x", "get"), Present: &Object{UID: "u", ResourceVersion: "7"}})
		if got := strings.Join(client.calls, ", "); got != test.calls || !errors.Is(err, test.want) {
			t.Errorf("%s: calls %s, error %v", name, got, err)
		}
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
