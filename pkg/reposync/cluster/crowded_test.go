package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// TestObjectsThatOthersHaveFilledAreEmptied has others add so much to objects of the repository that these cannot be
// applied.
func TestObjectsThatOthersHaveFilledAreEmptied(t *testing.T) {
	const annotations = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"message":"invalid","details":{"causes":[
		{"reason":"FieldValueInvalid","field":"spec"},{"reason":"FieldValueTooLong","field":"metadata.annotations"}]}}`
	const etcd = `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"etcdserver: request is too large"}`
	const grpc = `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"rpc error: code = ResourceExhausted desc = trying to send message larger than max (2 vs. 1)"}`
	const webhook = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500,"message":"failed calling webhook"}`
	const kept = `"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:hnc.x-k8s.io/repository-sync":{}}}},
		"manager":"hns-sync-policy","operation":"Apply"}]`
	const metadata = `"resourceVersion":"5","uid":"u","annotations":{"hnc.x-k8s.io/source-path":"x","hnc.x-k8s.io/ancestry":"a.b","hnc.x-k8s.io/store":"c","own":"d","theirs":"e"},
		"labels":{"hnc.x-k8s.io/repository-sync":"policy","app":"web","theirs":"f"}`
	const more = `,"finalizers":["example.com/hold"],"ownerReferences":[{"name":"a"}]`
	for name, test := range map[string]struct {
		kind, metadata, content string
		status                  string
		want                    string
	}{
		"annotations": {"NetworkPolicy", metadata + more, `"spec":{"podSelector":{},"egress":[{}]}`, annotations,
			`{"metadata":{"annotations":{"hnc.x-k8s.io/ancestry":null,"hnc.x-k8s.io/store":null,"theirs":null},"resourceVersion":"5"}}`},
		"annotations, and managed fields that cannot be read": {"NetworkPolicy", metadata, `"spec":{}`, annotations,
			`{"metadata":{"annotations":{"hnc.x-k8s.io/ancestry":null,"hnc.x-k8s.io/store":null,"theirs":null},"resourceVersion":"5"}}`},
		"all": {"NetworkPolicy", metadata + more, `"spec":{"podSelector":{"matchLabels":{"a":"b","c":"d"}},"ingress":[{}],"egress":[{}]},"status":{"a":"b"},"other":{"c":"d"}`, etcd,
			`{"metadata":{"annotations":{"hnc.x-k8s.io/ancestry":null,"hnc.x-k8s.io/store":null,"theirs":null},"finalizers":null,"labels":{"theirs":null},` + kept + `,"ownerReferences":null,
			"resourceVersion":"5"},"other":null,"spec":{"egress":null,"ingress":[],"podSelector":{"matchLabels":{"c":null}}}}`},
		"without metadata": {"NetworkPolicy", `"resourceVersion":"5","uid":"u"`, `"spec":{"egress":[{}]}`, grpc, `{"metadata":{` + kept + `,"resourceVersion":"5"},"spec":{"egress":null}}`},
		"annotations of a namespace": {"Namespace", metadata, `"spec":{"finalizers":["kubernetes"]}`, annotations,
			`{"metadata":{"annotations":{"hnc.x-k8s.io/store":null,"theirs":null},"resourceVersion":"5"}}`},
		"all of a namespace": {"Namespace", metadata + more, `"spec":{"finalizers":["kubernetes"]}`, etcd,
			`{"metadata":{"annotations":{"hnc.x-k8s.io/store":null,"theirs":null},"finalizers":null,` + kept + `,"ownerReferences":null,"resourceVersion":"5"},"spec":null}`},
		"a namespace that others manage": {"Namespace", `"resourceVersion":"5","uid":"u","annotations":{"theirs":"e","hnc.x-k8s.io/managed-by":"` + strings.Repeat("x", 1000) + `"}`, `"spec":{}`, annotations,
			`{"metadata":{"annotations":{"hnc.x-k8s.io/managed-by":"` + names.Shorten(strings.Repeat("x", 1000)) + `","theirs":null},"resourceVersion":"5"}}`},
		"another RepositorySync's": {"NetworkPolicy", `"labels":{"hnc.x-k8s.io/repository-sync":"other"}`, `"spec":{"egress":[{}]}`, etcd, ""},
		"it is being deleted":      {"NetworkPolicy", `"deletionTimestamp":"2026-01-01T00:00:00Z"`, `"spec":{"egress":[{}]}`, etcd, ""},
		"another error":            {"NetworkPolicy", metadata, `"spec":{"egress":[{}]}`, webhook, ""},
	} {
		t.Run(name, func(t *testing.T) {
			patch, again, applied := "", 0, 0
			managed := `"managedFields":[{"manager":"a"}],`
			if strings.Contains(name, "cannot be read") {
				managed = ""
			}
			namespace, spec := `"namespace":"shop",`, `,"spec":{"podSelector":{"matchLabels":{"a":"b"}},"ingress":[]}`
			if test.kind == "Namespace" {
				namespace, spec = "", ""
			}
			content := `{"kind":"` + test.kind + `","apiVersion":"v1","metadata":{` + namespace + `"name":"a","labels":{"app":"web"},"annotations":{"own":"d"}}` + spec + `}`
			c, o := newTestCluster(t, content, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case word(r) == "empty":
					var body any
					if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
						t.Error(err)
					}
					// The second one drops that the first one updates.
					if text, _ := json.Marshal(body); patch == string(text) {
						again++
					} else {
						patch += string(text)
					}
				case word(r) == "reset" && managed == "":
				case r.Method == http.MethodPatch && patch == "":
					w.WriteHeader(http.StatusInternalServerError)
					_, _ = w.Write([]byte(test.status))
					return
				case r.Method == http.MethodPatch:
					// It takes the fields back that others have changed.
					if r.URL.Query().Get("force") != "true" {
						t.Error("applied without force")
					}
					applied++
				case r.Method != http.MethodGet:
					t.Errorf("%s request", r.Method)
				}
				_, _ = fmt.Fprintf(w, `{"kind":%q,"apiVersion":"v1","metadata":{"name":"a",%s%s},%s}`, test.kind, managed, test.metadata, test.content)
			})
			err := c.Apply(t.Context(), o)
			var want any
			if test.want == "" {
				if err == nil || patch != "" || applied > 0 {
					t.Errorf("got %v, and the patch %s", err, patch)
				}
				return
			}
			if unmarshal := json.Unmarshal([]byte(test.want), &want); unmarshal != nil {
				t.Fatal(unmarshal)
			}
			if text, _ := json.Marshal(want); err != nil || patch != string(text) || applied != 1 || (again == 1) != (test.status != annotations) {
				t.Errorf("got %v, %d more and %d times more the patch\n%s\nwant\n%s", err, applied, again, patch, text)
			}
		})
	}
}

// configMap is one of a repository.
const configMap = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a"},"data":{"b":"c"}}`

// serving returns the cluster of a RepositorySync whose API server is a function.
func serving(t *testing.T, repositorySync string, serve http.HandlerFunc) *Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		serve(w, r)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1}
	c, err := New(config, config, repositorySync, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// word is the method of a request, "empty" for a merge patch, "reset" for a strategic one, and "try" for a creation in a dry run.
func word(r *http.Request) string {
	switch contentType := r.Header.Get("Content-Type"); {
	case contentType == string(types.MergePatchType):
		return "empty"
	case contentType == string(types.StrategicMergePatchType):
		return "reset"
	case r.Method == http.MethodPost && r.URL.Query().Get("dryRun") == "All":
		return "try"
	}
	return r.Method
}

// newTestCluster returns a cluster whose API server is a function, and an object of its repository that has been applied
// before.
func newTestCluster(t *testing.T, content string, serve http.HandlerFunc) (*Cluster, *plan.Object) {
	t.Helper()
	c := serving(t, "policy", serve)
	core, rbac := schema.GroupVersion{Version: "v1"}, schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{core, rbac})
	mapper.Add(rbac.WithKind("RoleBinding"), meta.RESTScopeNamespace)
	mapper.Add(rbac.WithKind("Role"), meta.RESTScopeNamespace)
	mapper.Add(rbac.WithKind("ClusterRole"), meta.RESTScopeRoot)
	mapper.Add(core.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(core.WithKind("NetworkPolicy"), meta.RESTScopeNamespace)
	mapper.Add(core.WithKind("Namespace"), meta.RESTScopeRoot)
	c.found = &kinds{mapper: mapper}
	source := &object.Object{}
	if err := source.UnmarshalJSON([]byte(content)); err != nil {
		t.Fatal(err)
	}
	desired, err := plan.Desired(t.Context(), &repository.Result{Objects: []*object.Object{source}}, "policy")
	if err != nil {
		t.Fatal(err)
	}
	c.set(desired[0].ID, plan.Live{UID: "u", Version: 1})
	return c, desired[0]
}

// Whoever makes a ConfigMap immutable, and fills its annotations, too, does not keep the repository's out.
func TestAFilledImmutableObjectIsReplaced(t *testing.T) {
	const invalid = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"message":"invalid","details":{"causes":[%s]}}`
	const immutable, filled = `{"reason":"FieldValueForbidden","field":"data"}`, `{"reason":"FieldValueTooLong","field":"metadata.annotations"}`
	var requests []string
	c, o := newTestCluster(t, configMap, func(w http.ResponseWriter, r *http.Request) {
		what := word(r)
		requests = append(requests, what)
		emptied, deleted := slices.Contains(requests[:len(requests)-1], "empty"), slices.Contains(requests, http.MethodDelete)
		switch {
		case what == "try":
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409}`))
		case what == http.MethodPatch && !deleted:
			causes := immutable
			if !emptied {
				causes += "," + filled
			}
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = fmt.Fprintf(w, invalid, causes)
		default:
			_, _ = w.Write([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"5","managedFields":[{"manager":"a"}]}}`))
		}
	})
	if err := c.Apply(t.Context(), o); err != nil || strings.Join(requests, " ") != "PATCH GET empty PATCH try GET DELETE PATCH" {
		t.Errorf("got %v and %v", err, requests)
	}
}

// lateTime is how kube-apiserver fails to apply an object that has a time that nobody can decode.
const lateTime = `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"failed to convert new object (a) to proper version: parsing time \"10000-01-01T00:00:00Z\""}`

// A tenant may give managed fields a time that nobody can decode. The repository's cannot be applied without it.
func TestATimeOfATenantKeepsNoObjectFromBeingApplied(t *testing.T) {
	for code, want := range map[int]string{200: "PATCH try GET reset PATCH", 403: "PATCH try GET reset", 400: "PATCH try"} {
		var requests []string
		c, o := newTestCluster(t, configMap, func(w http.ResponseWriter, r *http.Request) {
			what := word(r)
			requests = append(requests, what)
			switch {
			case what == "try" && code == 400:
				w.WriteHeader(code)
			case what == "try":
				w.WriteHeader(http.StatusConflict)
			case what == http.MethodPatch && !slices.Contains(requests, "reset"):
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(lateTime))
				return
			case what == http.MethodPatch && r.URL.Query().Get("force") != "true":
				t.Error("applied without force")
			case what == "reset":
				w.WriteHeader(code)
			}
			managed := ""
			if what == http.MethodGet {
				managed = `,"managedFields":[{"time":"10000-01-01T00:00:00Z"}]`
			}
			_, _ = fmt.Fprintf(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"5"%s}}`, managed)
		})
		if err := c.Apply(t.Context(), o); (err == nil) != (code == 200) || strings.Join(requests, " ") != want {
			t.Errorf("got %v and %v", err, requests)
		}
	}
}

// Such a time may also be in a template, where kube-apiserver removes it by no patch.
func TestATimeInATemplateKeepsNoObjectFromBeingApplied(t *testing.T) {
	for managed, test := range map[string]struct {
		conflict bool
		want     string
	}{
		`,"managedFields":[{"manager":"a"}]`:                  {false, "PATCH try GET PUT PUT PATCH"},
		`,"managedFields":[{"manager":"b"}]`:                  {true, "PATCH try GET PUT PUT GET PUT PATCH"},
		`,"managedFields":[{"time":"10000-01-01T00:00:00Z"}]`: {false, "PATCH try GET reset PUT PUT PATCH"},
	} {
		var requests []string
		updates := 0
		c, o := newTestCluster(t, configMap, func(w http.ResponseWriter, r *http.Request) {
			what := word(r)
			requests = append(requests, what)
			switch {
			case what == http.MethodPut:
				updates++
				body, _ := io.ReadAll(r.Body)
				if !strings.Contains(string(body), fmt.Sprintf(reset, "v1")) || !strings.Contains(string(body), `"resourceVersion":"5"`) || !strings.Contains(string(body), `"data":{"b":"c"}`) {
					t.Errorf("got the update %s", body)
				}
				if updates == 2 && test.conflict {
					w.WriteHeader(http.StatusConflict)
				}
			case what == "reset":
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = w.Write([]byte(unreadableTime))
				return
			case what == http.MethodPatch && updates == 0:
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(lateTime))
				return
			case what == "try":
				w.WriteHeader(http.StatusConflict)
			}
			left := managed
			if updates > 0 {
				left = ""
			}
			_, _ = fmt.Fprintf(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"5"%s}}`, left)
		})
		if err := c.Apply(t.Context(), o); err != nil || strings.Join(requests, " ") != test.want {
			t.Errorf("%s: got %v and %v", managed, err, requests)
		}
	}
}

// Managed fields of a template may be too deep for merge patches.
func TestAFilledObjectWithADeepTemplateIsReplaced(t *testing.T) {
	for _, full := range []string{
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":{"causes":[{"reason":"FieldValueTooLong","field":"metadata.annotations"}]}}`,
		`{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"etcdserver: request is too large"}`,
	} {
		var requests []string
		updates := 0
		c, o := newTestCluster(t, configMap, func(w http.ResponseWriter, r *http.Request) {
			what := word(r)
			requests = append(requests, what)
			switch {
			case what == http.MethodPut:
				updates++
				// Nothing that was written since is overwritten.
				if content, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(content), `"resourceVersion":"5"`) {
					t.Errorf("%s replaces the object by %s (%v)", full, content, err)
				}
			case what == "empty":
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500,"message":"Invalid JSON Document"}`))
				return
			case what == http.MethodPatch && updates == 0:
				w.WriteHeader(map[bool]int{true: http.StatusUnprocessableEntity, false: http.StatusInternalServerError}[strings.Contains(full, "422")])
				_, _ = w.Write([]byte(full))
				return
			}
			_, _ = w.Write([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"5","managedFields":[{"manager":"a"}]}}`))
		})
		if err := c.Apply(t.Context(), o); err != nil || strings.Join(requests, " ") != "PATCH GET empty PUT PUT PATCH" {
			t.Errorf("%s: got %v and %v", full, err, requests)
		}
	}
}

// Fights limit how often an object that is being deleted is corrected, too.
func TestCorrectionsOfTerminatingObjectsCount(t *testing.T) {
	n := 0
	c, o := newTestCluster(t, configMap, func(w http.ResponseWriter, _ *http.Request) {
		n++
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"%d","deletionTimestamp":"2026-01-01T00:00:00Z",
			"managedFields":[{"manager":"hns-sync-policy","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:%d":{}}}}]}}`, n+4, n)
	})
	drifted := &plan.Plan{Drifted: map[plan.ID]bool{o.ID: true}}
	for range 3 {
		before := c.State()
		if err := c.Apply(t.Context(), o); !errors.Is(err, errTerminating) {
			t.Fatal(err)
		}
		if got := drifted.Corrected(before, c.State()); len(got) != 1 {
			t.Errorf("corrected %v", got)
		}
	}
}

// Whoever adds an annotation that must not stand beside the repository's does not keep the rest of the object.
func TestWhatMakesObjectsInvalidGoes(t *testing.T) {
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"rejected"}`
	const metadata = `"metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"5","annotations":{%s}}`
	const none, all = `"propagate.hnc.x-k8s.io/none":"true"`, `"propagate.hnc.x-k8s.io/all":"true"`
	for kind, content := range map[string]string{
		"NetworkPolicy": `{"kind":"NetworkPolicy","apiVersion":"v1",` + metadata + `,"spec":{"podSelector":{},"ingress":[{}]}}`,
		"Role":          `{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1",` + metadata + `,"rules":[{"verbs":["get"]}]}`,
	} {
		for name, test := range map[string]struct {
			invalid   bool // without what others have added, too
			conflicts int  // of patches after the first one
			reset     int  // the answer to a reset of managed fields that cannot be read, 0 if they can
			want      string
		}{
			"valid without it":              {false, 0, 0, "PATCH GET PUT GET empty empty PATCH"},
			"others write, too":             {false, 2, 0, "PATCH GET PUT GET empty empty GET empty GET empty PATCH"},
			"others do not cease":           {false, 100, 0, "PATCH GET PUT GET empty" + strings.Repeat(" empty GET", maxConflicts) + " empty"},
			"an immutable field":            {true, 0, 0, "PATCH GET PUT"},
			"deep":                          {false, 0, 200, "PATCH GET PUT GET reset empty empty PATCH"},
			"deep, also after a conflict":   {false, 1, 200, "PATCH GET PUT GET reset empty empty GET reset empty PATCH"},
			"deep, and changed meanwhile":   {false, 0, 409, "PATCH GET PUT GET reset"},
			"deep, without permission":      {false, 0, 403, "PATCH GET PUT GET reset"},
			"custom, without managedFields": {false, 0, 415, "PATCH GET PUT GET reset empty empty PATCH"},
		} {
			var requests []string
			managed := func(o string) string {
				return strings.Replace(o, `"annotations"`, `"managedFields":[{"manager":"a"}],"annotations"`, 1)
			}
			patches := 0
			c, o := newTestCluster(t, fmt.Sprintf(content, none), func(w http.ResponseWriter, r *http.Request) {
				what := word(r)
				body, _ := io.ReadAll(r.Body)
				switch {
				case what == "empty":
					patches++
					if !strings.Contains(string(body), `"propagate.hnc.x-k8s.io/all":null`) {
						t.Errorf("%s, %s: got the patch %s", kind, name, body)
					}
				case what == "reset":
					if !strings.HasPrefix(string(body), `{"metadata":{"managedFields":[{"apiVersion":"`) || !strings.HasSuffix(string(body), `"manager":"hns-sync-policy","operation":"Apply"}],"resourceVersion":"5"}}`) || r.URL.Query().Get("fieldManager") != Manager("policy") {
						t.Errorf("%s, %s: got the patch %s", kind, name, body)
					}
				case what == http.MethodPut && (r.URL.Query().Get("dryRun") != "All" || !strings.Contains(string(body), `"resourceVersion":"5"`)):
					t.Errorf("%s, %s: got %s for %s", kind, name, body, r.URL)
				}
				requests = append(requests, what)
				switch {
				case what == http.MethodPatch && patches == 0, what == http.MethodPut && test.invalid:
					w.WriteHeader(http.StatusUnprocessableEntity)
					_, _ = fmt.Fprintf(w, status, "Invalid", http.StatusUnprocessableEntity)
				case what == "empty" && patches > 1 && patches <= test.conflicts+1:
					w.WriteHeader(http.StatusConflict)
					_, _ = fmt.Fprintf(w, status, "Conflict", http.StatusConflict)
				case what == http.MethodPatch:
					if r.URL.Query().Get("force") != "true" {
						t.Errorf("%s, %s: applied without force", kind, name)
					}
					_, _ = fmt.Fprintf(w, content, none)
				case what == "reset" && test.reset != http.StatusOK:
					w.WriteHeader(test.reset)
					_, _ = fmt.Fprintf(w, status, http.StatusText(test.reset), test.reset)
				case what == "empty" || test.reset == 0:
					_, _ = fmt.Fprintf(w, managed(content), all)
				default:
					_, _ = fmt.Fprintf(w, content, all)
				}
			})
			if err := c.Apply(t.Context(), o); (err == nil) != strings.HasSuffix(test.want, " PATCH") || strings.Join(requests, " ") != test.want {
				t.Errorf("%s, %s: got %v and %v", kind, name, err, requests)
			}
		}
	}
}
