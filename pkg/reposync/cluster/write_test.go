package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Hierarchies and Subnamespaces are not deleted, with a conflict, while the tree around them keeps changing.
func TestConflictsOfDeletions(t *testing.T) {
	hierarchies := schema.GroupVersion{Group: "hnc.x-k8s.io", Version: "v1beta1"}
	for name, test := range map[string]struct {
		code int // of the answer to a get
		uid  types.UID
		want func(error) bool
	}{
		"the object is still there":  {200, "own", apierrors.IsConflict},
		"another one has its name":   {200, "other", func(err error) bool { return errors.Is(err, ErrReplaced) }},
		"it is gone meanwhile":       {404, "", func(err error) bool { return err == nil }},
		"the account may not get it": {403, "", apierrors.IsForbidden},
	} {
		c := serving(t, "policy", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && test.code == 200 {
				_ = json.NewEncoder(w).Encode(metav1.PartialObjectMetadata{
					TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "hierarchy", UID: test.uid},
				})
				return
			}
			code := 409
			if r.Method == http.MethodGet {
				code = test.code
			}
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(apierrors.NewGenericServerResponse(code, r.Method, schema.GroupResource{}, "hierarchy", "", 0, true).Status())
		})
		mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{hierarchies})
		mapper.Add(hierarchies.WithKind("Hierarchy"), meta.RESTScopeNamespace)
		c.found = &kinds{mapper: mapper}
		id := plan.ID{Kind: hierarchies.WithKind("Hierarchy").GroupKind(), Namespace: "shop", Name: "hierarchy"}
		c.record(&plan.Object{ID: id}, plan.Live{UID: "own", Version: 1})
		err := c.Delete(t.Context(), id)
		if !test.want(err) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, known := c.State().Applied[id]; known != (err != nil && !errors.Is(err, ErrReplaced)) {
			t.Errorf("%s: after %v, the result of applying it is known: %t", name, err, known)
		}
	}
}

// A tenant deletes an object of the repository, and creates an immutable one of its name, in protobuf, which has more levels
// in JSON than decoders accept.
func TestImmutableObjectsAreReplaced(t *testing.T) {
	const request, create, try, get, remove, update = "PATCH force", "PATCH", "POST dry run", "GET", "DELETE", "PUT"
	for name, test := range map[string]struct {
		resource string
		labels   map[string]string
		deleting bool
		try      int // the answer to the creation that stores nothing
		reason   string
		remove   int
		want     []string
		valid    func(error) bool
	}{
		"data":                        {"configmaps", nil, false, 409, "exists", 200, []string{request, try, get, remove, create}, nil},
		"a quota is full":             {"configmaps", nil, false, 403, `configmaps "policy" is forbidden: exceeded quota: q`, 200, []string{request, try, get, remove, create}, nil},
		"gone meanwhile":              {"configmaps", nil, false, 201, "", 404, []string{request, try, get, remove, create}, nil},
		"changed meanwhile":           {"configmaps", nil, false, 409, "exists", 409, []string{request, try, get, remove}, apierrors.IsConflict},
		"the repository's is invalid": {"configmaps", nil, false, 422, "invalid", 200, []string{request, try}, apierrors.IsInvalid},
		"a policy rejects it":         {"configmaps", nil, false, 403, "denied", 200, []string{request, try}, apierrors.IsForbidden},
		"a copy":                      {"configmaps", map[string]string{hnc.LabelInheritedFrom: "acme"}, false, 409, "exists", 200, []string{request, try, get}, func(err error) bool { return err != nil }},
		"another repository's":        {"configmaps", map[string]string{hnc.LabelRepositorySync: "other"}, false, 409, "exists", 200, []string{request, try, get}, func(err error) bool { return err != nil }},
		"being deleted":               {"configmaps", nil, true, 409, "exists", 200, []string{request, try, get}, func(err error) bool { return errors.Is(err, errTerminating) }},
		"not a kind that is replaced": {"services", nil, false, 409, "exists", 200, []string{request, get, update}, apierrors.IsInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			found := metav1.PartialObjectMetadata{
				TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "policy", UID: "u", ResourceVersion: "5", Labels: test.labels},
			}
			if test.deleting {
				found.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			var requests []string
			c := serving(t, "policy", func(w http.ResponseWriter, r *http.Request) {
				query, made, code := r.URL.Query(), r.Method, 200
				switch {
				case query.Get("force") == "true":
					made, code = request, 422
				case r.Method == http.MethodPut:
					code = 422
				case r.Method == http.MethodPost && query.Get("dryRun") == metav1.DryRunAll:
					made, code = try, test.try
				case r.Method == http.MethodDelete:
					code = test.remove
					var options metav1.DeleteOptions
					if err := json.NewDecoder(r.Body).Decode(&options); err != nil || *options.Preconditions.UID != "u" || *options.Preconditions.ResourceVersion != "5" {
						t.Errorf("deletion with %+v, %v", options.Preconditions, err)
					}
				}
				if r.Method != http.MethodGet && r.Method != http.MethodDelete && query.Get("fieldManager") != Manager("policy") {
					t.Errorf("%s as the field manager %q", made, query.Get("fieldManager"))
				}
				requests = append(requests, made)
				w.WriteHeader(code)
				if code >= http.StatusBadRequest {
					status := apierrors.NewGenericServerResponse(code, r.Method, schema.GroupResource{Resource: test.resource}, "policy", "", 0, true).Status()
					status.TypeMeta, status.Message = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, test.reason
					if code == 409 && made == try {
						status.Reason = metav1.StatusReasonAlreadyExists
					}
					_ = json.NewEncoder(w).Encode(status)
					return
				}
				found.ManagedFields = nil
				if r.Method == http.MethodGet {
					found.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:a":`, 9_998) + "{}" + strings.Repeat("}", 9_998))}}
				}
				_ = json.NewEncoder(w).Encode(found)
			})
			core, kind := schema.GroupVersion{Version: "v1"}, map[string]string{"configmaps": "ConfigMap", "services": "Service"}[test.resource]
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{core})
			mapper.Add(core.WithKind(kind), meta.RESTScopeNamespace)
			c.found = &kinds{mapper: mapper}
			source := &object.Object{Unstructured: unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": "shop", "name": "policy"},
			}}}
			desired, err := plan.Desired(t.Context(), &repository.Result{Objects: []*object.Object{source}}, "policy")
			if err != nil || len(desired) != 1 {
				t.Fatal(desired, err)
			}
			// The watch has not brought the deletion yet.
			c.set(desired[0].ID, plan.Live{UID: "own", Version: 1})
			err = c.Apply(t.Context(), desired[0])
			if test.valid == nil && err != nil || test.valid != nil && !test.valid(err) {
				t.Errorf("got %v", err)
			}
			if !slices.Equal(requests, test.want) {
				t.Errorf("got the requests %q, want %q", requests, test.want)
			}
		})
	}
}

// TestRevoke has objects of RBAC that must not be extended, and grant more than the repository says.
func TestRevoke(t *testing.T) {
	const ann, bob, eve = `{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"ann"}`, `{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"bob"}`,
		`{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"eve"}`
	for name, test := range map[string]struct {
		label, role, live string
		missing, reduces  bool
		want              []string
	}{
		"nothing":             {"policy", "edit", bob, false, false, []string{"GET"}},
		"a subject":           {"policy", "edit", ann + "," + bob, false, false, []string{"GET", "PATCH " + bob}},
		"all subjects":        {"policy", "edit", ann, false, false, []string{"GET", "PATCH "}},
		"another role":        {"policy", "admin", bob, false, false, []string{"GET", "DELETE"}},
		"only less":           {"policy", "edit", ann + "," + bob + "," + eve, false, true, []string{"GET"}},
		"not the sync's":      {"other", "edit", ann, false, false, []string{"GET"}},
		"nobody's":            {"", "admin", ann, false, false, []string{"GET"}},
		"one that is missing": {"policy", "edit", ann, true, false, []string{"GET"}},
	} {
		var requests []string
		c := serving(t, "policy", func(w http.ResponseWriter, r *http.Request) {
			made, code := r.Method, 200
			switch {
			case r.Method == http.MethodPatch:
				var body struct{ Subjects json.RawMessage }
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Subjects == nil {
					t.Errorf("%s: %s, %v", name, body.Subjects, err)
				}
				made += " " + strings.Trim(string(body.Subjects), "[]")
			case test.missing || len(requests) > 1:
				code = 404
			}
			requests = append(requests, made)
			w.WriteHeader(code)
			if code == 404 {
				_ = json.NewEncoder(w).Encode(apierrors.NewNotFound(schema.GroupResource{}, "readers").Status())
				return
			}
			_, _ = fmt.Fprintf(w, `{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers","uid":"u","resourceVersion":"5",
				"labels":{"hnc.x-k8s.io/repository-sync":%q}},"roleRef":{"kind":"ClusterRole","name":%q},"subjects":[%s]}`, test.label, test.role, test.live)
		})
		rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
		mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{rbac})
		mapper.Add(rbac.WithKind("RoleBinding"), meta.RESTScopeNamespace)
		c.found = &kinds{mapper: mapper}
		source := &object.Object{}
		if err := source.UnmarshalJSON([]byte(`{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers"},
			"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[` + bob + "," + eve + `]}`)); err != nil {
			t.Fatal(err)
		}
		desired, err := plan.Desired(t.Context(), &repository.Result{Objects: []*object.Object{source}}, "policy")
		if err != nil {
			t.Fatal(err)
		}
		c.set(desired[0].ID, plan.Live{UID: "u", Version: 1})
		reduces, err := c.Revoke(t.Context(), desired[0], nil)
		if err != nil || reduces != test.reduces || !slices.Equal(requests[:len(test.want)], test.want) {
			t.Errorf("%s: got %t, %v, and the requests %q", name, reduces, err, requests)
		}
		if applied, known := c.State().Applied[desired[0].ID]; known && applied.Hash == desired[0].Hash {
			t.Errorf("%s: it counts as applied", name)
		}
	}
}

// TestRejectedPermissionsAreTakenAway has RoleBindings of the repository that are not applied as they are, for different
// reasons.
func TestRejectedPermissionsAreTakenAway(t *testing.T) {
	const apply, patch = "PATCH apply", "PATCH subjects"
	answer := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "PATCH", schema.GroupResource{}, "readers", "", 0, true)
	}
	const forbidden, inherited, everywhere = 403, `"hnc.x-k8s.io/inherited-from":"acme",`, `"propagate.hnc.x-k8s.io/all":"true"`
	for name, test := range map[string]struct {
		err                      error
		label, annotations, role string
		denied                   []string
		want                     []string
	}{
		"a conflict":                 {answer(409), "", "", "edit", nil, nil},
		"a timeout":                  {answer(408), "", "", "edit", nil, nil},
		"too many requests":          {answer(429), "", "", "edit", nil, nil},
		"an error of a server":       {answer(500), "", "", "admin", nil, nil},
		"no answer":                  {io.ErrUnexpectedEOF, "", "", "admin", nil, nil},
		"a rejection":                {answer(forbidden), "", "", "edit", nil, []string{"GET", apply}},
		"another role":               {answer(forbidden), "", "", "admin", nil, []string{"GET", "DELETE", "GET"}},
		"another role, and deleted":  {errTerminating, "", "", "admin", nil, []string{"GET", "DELETE", "GET"}},
		"what both have, too":        {answer(forbidden), "", "", "edit", []string{apply}, []string{"GET", apply, patch}},
		"all of it":                  {answer(forbidden), "", "", "edit", []string{apply, patch}, []string{"GET", apply, patch, "DELETE", "GET"}},
		"it is propagated elsewhere": {answer(forbidden), "", everywhere, "edit", []string{apply}, []string{"GET", apply, patch, "DELETE", "GET"}},
		"a copy is in the way":       {answer(forbidden), inherited, "", "admin", nil, []string{"GET"}},
	} {
		var requests []string
		c, o := newTestCluster(t, `{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers"},
			"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"User","name":"bob"}]}`, func(w http.ResponseWriter, r *http.Request) {
			made, subjects := r.Method, `{"kind":"User","name":"ann"},{"kind":"User","name":"bob"}`
			if body, _ := io.ReadAll(r.Body); made == http.MethodPatch {
				made += " apply"
				if r.Header.Get("Content-Type") == string(types.StrategicMergePatchType) {
					made, subjects = patch, `{"kind":"User","name":"bob"}`
					if string(body) != `{"metadata":{"uid":"u"},"subjects":[`+subjects+`]}` {
						t.Errorf("%s: got the patch %s", name, body)
					}
				}
			}
			gone := made == http.MethodGet && slices.Contains(requests, http.MethodDelete)
			requests = append(requests, made)
			switch {
			case gone:
				w.WriteHeader(http.StatusNotFound)
				_ = json.NewEncoder(w).Encode(apierrors.NewNotFound(schema.GroupResource{}, "readers").Status())
				return
			case slices.Contains(test.denied, made):
				w.WriteHeader(forbidden)
				_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
				return
			}
			_, _ = fmt.Fprintf(w, `{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers","uid":"u","resourceVersion":"5",
				"labels":{%s"hnc.x-k8s.io/repository-sync":"policy"},"annotations":{%s}},"roleRef":{"kind":"ClusterRole","name":%q},"subjects":[%s]}`, test.label, test.annotations, test.role, subjects)
		})
		if _, err := c.Revoke(t.Context(), o, test.err); err != nil || !slices.Equal(requests, test.want) {
			t.Errorf("%s: got %v after %q", name, err, requests)
		}
	}
}

// A ClusterRole that others aggregate no more grants its rules to nobody else, and is not aggregated by a controller.
func TestRejectedAggregationsAreTakenAway(t *testing.T) {
	const role = `{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"pods"%s},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`
	live := fmt.Sprintf(role, `,"uid":"u","resourceVersion":"5","labels":{"hnc.x-k8s.io/repository-sync":"policy","rbac.authorization.k8s.io/aggregate-to-view":"true"}`)
	live = strings.Replace(live, `{"kind"`, `{"aggregationRule":{"clusterRoleSelectors":[{}]},"kind"`, 1)
	var patched map[string]any
	c, o := newTestCluster(t, fmt.Sprintf(role, ""), func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Content-Type") == string(types.StrategicMergePatchType):
			if err := json.NewDecoder(r.Body).Decode(&patched); err != nil {
				t.Error(err)
			}
			_, _ = fmt.Fprintf(w, role, `,"uid":"u","resourceVersion":"6","labels":{"hnc.x-k8s.io/repository-sync":"policy"}`)
		case r.Method == http.MethodPatch:
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
		case r.Method == http.MethodDelete:
			t.Error("the ClusterRole is deleted")
		default:
			_, _ = fmt.Fprint(w, live)
		}
	})
	if _, err := c.Revoke(t.Context(), o, apierrors.NewGenericServerResponse(http.StatusForbidden, "PATCH", schema.GroupResource{}, "pods", "", 0, true)); err != nil {
		t.Fatal(err)
	}
	labels, _, _ := unstructured.NestedMap(patched, "metadata", "labels")
	if value, taken := labels["rbac.authorization.k8s.io/aggregate-to-view"]; !taken || value != nil || len(labels) != 1 {
		t.Errorf("labels %v", labels)
	}
	if rule, taken := patched["aggregationRule"]; !taken || rule != nil {
		t.Errorf("got %v", patched)
	}
}

// A tenant who rewrites managedFields prevents the conflict that keeps two repositories apart.
func TestObjectsOfAnotherSyncAreNotAppliedWithoutAConflict(t *testing.T) {
	for name, labels := range map[string]string{"another repository's": `"hnc.x-k8s.io/repository-sync":"other"`, "a copy": `"hnc.x-k8s.io/inherited-from":"acme"`, "nobody's": ""} {
		applied := 0
		c, o := newTestCluster(t, configMap, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				applied++
			}
			_, _ = fmt.Fprintf(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"5","labels":{%s}}}`, labels)
		})
		delete(c.live, o.ID)
		if err := c.Apply(t.Context(), o); (err == nil) != (labels == "") || (applied == 1) != (labels == "") {
			t.Errorf("%s: got %v, and %d writes", name, err, applied)
		}
	}
}

// patched returns the answer to a patch of an object that is too deep for merge patches, or to a custom resource if the answer
// to strategic ones says so.
func patched(kind string, strategic int) int {
	switch {
	case kind == string(types.StrategicMergePatchType):
		return strategic
	case strategic == http.StatusUnsupportedMediaType:
		return http.StatusOK
	}
	return http.StatusInternalServerError
}

// unreadableTime is the answer to a patch of an object whose managed fields have a time that kube-apiserver cannot decode, until
// another patch resets them.
const unreadableTime = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"message":"patch: Invalid value: parsing time \"10000-01-01T00:00:00Z\""}`

// reset is what such a patch has for that.
const reset = `"managedFields":[{"apiVersion":"%s","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:hnc.x-k8s.io/repository-sync":{}}}},"manager":"hns-sync-policy","operation":"Apply"}]`

func TestReleasedObjectsLoseTheLabel(t *testing.T) {
	for code, released := range map[int]bool{200: true, 415: true, 404: true, 403: false, 422: true} {
		body := ""
		c, o := newTestCluster(t, configMap, func(w http.ResponseWriter, r *http.Request) {
			content, _ := io.ReadAll(r.Body)
			body = strings.Replace(string(content), ","+fmt.Sprintf(reset, "v1"), "", 1)
			switch again := body != string(content); {
			case code != 422:
				w.WriteHeader(patched(r.Header.Get("Content-Type"), code))
			case !again:
				w.WriteHeader(code)
				_, _ = w.Write([]byte(unreadableTime))
				return
			}
			_, _ = fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u"}}`)
		})
		c.record(o, plan.Live{UID: "u", Version: 1})
		err := c.Release(t.Context(), o.ID)
		if _, known := c.State().Applied[o.ID]; (err == nil) != released || known == released || body != `{"metadata":{"annotations":{"hnc.x-k8s.io/source-path":null},"labels":{"hnc.x-k8s.io/repository-sync":null}}}` {
			t.Errorf("%d: got %v after %s", code, err, body)
		}
	}
}

// A tenant's object is taken over that is not propagated, and must be.
func TestPropagationIsThatOfTheRepository(t *testing.T) {
	const declared, removal = `"propagate.hnc.x-k8s.io/select":"a"`, `{"metadata":{"annotations":{"propagate.hnc.x-k8s.io/none":null},"uid":"u"}}`
	for name, test := range map[string]struct {
		annotations string
		code        int
		want        []string
	}{
		"none":                {`"a":"b"`, 200, []string{""}},
		"the repository's":    {declared, 200, []string{""}},
		"a tenant's":          {declared + `,"a":"b","propagate.hnc.x-k8s.io/none":"true"`, 200, []string{"", removal}},
		"a removal is denied": {`"propagate.hnc.x-k8s.io/none":"true"`, 403, []string{"", removal}},
		"a custom resource":   {`"propagate.hnc.x-k8s.io/none":"true"`, 415, []string{"", removal, removal}},
	} {
		var patches []string
		c, o := newTestCluster(t, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","annotations":{`+declared+`}}}`, func(w http.ResponseWriter, r *http.Request) {
			body := ""
			if patch := r.Header.Get("Content-Type"); r.Method == http.MethodPatch && patch != string(types.ApplyPatchType) {
				content, _ := io.ReadAll(r.Body)
				body = string(content)
				w.WriteHeader(patched(patch, test.code))
			}
			if r.Method == http.MethodPatch {
				patches = append(patches, body)
			}
			_, _ = fmt.Fprintf(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"%d","annotations":{%s}}}`, 4+len(patches), test.annotations)
		})
		delete(c.live, o.ID)
		err := c.Apply(t.Context(), o)
		if (err == nil) != (test.code != 403) || !slices.Equal(patches, test.want) {
			t.Errorf("%s: got %v, and the patches %q", name, err, patches)
		}
		if live, known := c.Live(o.ID); known != (err == nil) || known && live.Version != uint64(4+len(test.want)) {
			t.Errorf("%s: version %d is recorded: %t", name, live.Version, known)
		}
	}
}

// A finalizer may be older than the repository. After a restart, hns-sync knows the object by its entry in managed fields.
func TestWhatFinalizersKeepGrantsNothing(t *testing.T) {
	for kind, grants := range map[string]string{"RoleBinding": "subjects", "Role": "rules"} {
		for code, want := range map[int]string{
			200: `{"aggregationRule":null,"metadata":{"uid":"u"},%q:[]}`,
			403: `{"aggregationRule":null,"metadata":{"uid":"u"},%q:[]}`,
			422: `{"aggregationRule":null,"metadata":{` + fmt.Sprintf(reset, "rbac.authorization.k8s.io/v1") + `,"uid":"u"},%q:[]}`,
		} {
			body, want := "", fmt.Sprintf(want, grants)
			c := serving(t, "policy", func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Content-Type") == string(types.StrategicMergePatchType) {
					content, _ := io.ReadAll(r.Body)
					body = string(content)
					switch {
					case code != 422:
						w.WriteHeader(code)
					case body != want:
						w.WriteHeader(code)
						_, _ = w.Write([]byte(unreadableTime))
						return
					}
				}
				_, _ = fmt.Fprintf(w, `{"kind":%q,"apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers","uid":"u","finalizers":["example.com/hold"]}}`, kind)
			})
			rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{rbac})
			mapper.Add(rbac.WithKind(kind), meta.RESTScopeNamespace)
			c.found = &kinds{mapper: mapper}
			id := plan.ID{Kind: rbac.WithKind(kind).GroupKind(), Namespace: "shop", Name: "readers"}
			c.set(id, plan.Live{UID: "u", Version: 1})
			err := c.Delete(t.Context(), id)
			if err == nil || strings.Contains(err.Error(), "with what it grants") != (code == 403) || body != want {
				t.Errorf("%s, %d: got %v after %s", kind, code, err, body)
			}
			var left metav1.PartialObjectMetadata
			if err := json.Unmarshal([]byte(body), &left); err != nil || code == 422 && c.liveOf(&left).Owned == 0 {
				t.Errorf("%s: after a restart, it is not the repository's: %v, %v", kind, left.ManagedFields, err)
			}
		}
	}
}

// A tenant may give the source of copies a finalizer.
func TestWhatFinalizersKeepHasNoCopies(t *testing.T) {
	for name, test := range map[string]struct {
		finalizers string
		code       int
		want       string
	}{
		"a finalizer":         {`"example.com/hold"`, 200, "until its finalizers are removed: example.com/hold"},
		"a grace period":      {"", 200, ""},
		"it is gone":          {`"example.com/hold"`, 404, ""},
		"marking is rejected": {`"example.com/hold"`, 403, "with its copies"},
		"a custom resource":   {`"example.com/hold"`, 415, "until its finalizers are removed: example.com/hold"},
	} {
		body := ""
		c, o := newTestCluster(t, configMap, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPatch {
				content, _ := io.ReadAll(r.Body)
				body = string(content)
				w.WriteHeader(patched(r.Header.Get("Content-Type"), test.code))
			}
			_, _ = fmt.Fprintf(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u","finalizers":[%s]}}`, test.finalizers)
		})
		c.set(o.ID, plan.Live{UID: "u", Version: 1})
		err := c.Delete(t.Context(), o.ID)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || body != `{"metadata":{"annotations":{"propagate.hnc.x-k8s.io/none":"true"},"uid":"u"}}` {
			t.Errorf("%s: got %v after %s", name, err, body)
		}
	}
}
