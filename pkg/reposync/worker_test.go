package reposync

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster/clustertest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// slowKinds takes longer to find a kind than a repository may be compiled.
type slowKinds struct{}

func (slowKinds) Namespaced(schema.GroupKind) (namespaced, ok bool) {
	time.Sleep(turnLimit + time.Second)
	return true, true
}

// roundTrip is an API server.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// TestARevisionStaysInForceWhenTheNextOneTakesTooLong has a next one that is not compiled in time, which is in force later.
func TestARevisionStaysInForceWhenTheNextOneTakesTooLong(t *testing.T) {
	var objects []*object.Object
	for path, content := range map[string]string{
		"system/repo.yaml":               `{"kind":"Repo","apiVersion":"configmanagement.gke.io/v1","metadata":{"name":"repo"},"spec":{"version":"1.0.0"}}`,
		"namespaces/shop/namespace.yaml": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop"}}`,
		"namespaces/shop/widget.yaml":    `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a"}}`,
	} {
		o := &object.Object{Path: path}
		if err := o.UnmarshalJSON([]byte(content)); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	synctest.Test(t, func(t *testing.T) {
		config := &rest.Config{Host: "http://127.0.0.1:1", Transport: roundTrip(func(r *http.Request) *http.Response {
			body := io.NopCloser(strings.NewReader(map[string]string{"/api": `{"versions":[]}`, "/apis": `{"groups":[]}`}[r.URL.Path]))
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r}
		})}
		c, err := cluster.New(config, config, "policy", func() {})
		if err != nil {
			t.Fatal(err)
		}
		current := &revision{commit: "current"}
		w := &worker{
			manager: &Manager{now: time.Now}, sync: &v1alpha3.RepositorySync{}, cluster: c, source: &source{}, fights: plan.NewFights(), rejections: plan.NewRejections(),
			current: current, result: &repository.Result{}, candidate: &revision{commit: "next", objects: objects, listed: slowKinds{}},
		}
		begin := time.Now()
		done := w.synchronize(t.Context(), false)
		if took := time.Since(begin); done.reason != hnc.ReasonInvalidRepository || took != turnLimit+time.Second {
			t.Errorf("after %s: %s: %s", took, done.reason, done.message)
		}
		if done.commit != current.commit || w.current != current || w.candidate == nil {
			t.Errorf("%q is in force", done.commit)
		}
		if w.candidate.refused == nil || done.errors[0].Code != report.LimitExceeded || w.source.wait == 0 {
			t.Errorf("it is compiled again and again: %v", done.errors)
		}

		// One in force may lack kinds, or be slower than it was.
		lacking := &repository.Result{Errors: report.Errors{{Code: report.UnknownKind}}}
		w.current, w.result, w.candidate = &revision{commit: "slow", objects: objects, listed: slowKinds{}}, lacking, nil
		var compiled []time.Duration
		for begin = time.Now(); time.Since(begin) < 2*recompileFactor*turnLimit; time.Sleep(minRetry) {
			before := time.Now()
			done = w.synchronize(t.Context(), false)
			if time.Since(before) > 0 {
				compiled = append(compiled, before.Sub(begin))
			}
			if done.reason != hnc.ReasonInvalidRepository || done.errors[0].Code != report.LimitExceeded || done.commit != "slow" {
				t.Fatalf("after %s: %q is in force: %s: %s", before.Sub(begin), done.commit, done.reason, done.message)
			}
		}
		if len(compiled) != 2 {
			t.Errorf("it is compiled after %s", compiled)
		}
	})
}

// The first list of a kind may fail for a moment, and the revision take minutes to compile.
func TestUnknownKindsDoNotWaitForTheNextCompilation(t *testing.T) {
	shop := &object.Object{Path: "namespaces/shop/namespace.yaml"}
	if err := shop.UnmarshalJSON([]byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop"}}`)); err != nil {
		t.Fatal(err)
	}
	result := &repository.Result{Objects: []*object.Object{shop}, Namespaces: []repository.Namespace{{Name: "shop", Object: shop}}}
	desired, err := plan.Desired(t.Context(), result, "policy")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		live       []string
		refused    *refusal
		reason     string
		unverified bool
	}{
		"it is safe":                         {live: []string{"shop"}},
		"it would delete too many":           {live: []string{"shop", "a", "b"}, reason: hnc.ReasonUnsafeRevision, unverified: true},
		"it could not be compiled last time": {live: []string{"shop"}, refused: &refusal{reason: hnc.ReasonInvalidRepository}, reason: hnc.ReasonInvalidRepository, unverified: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Query().Get("sendInitialEvents") != "":
					w.WriteHeader(http.StatusUnprocessableEntity)
					_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`))
				case r.URL.Query().Get("watch") != "":
					<-r.Context().Done()
				case r.URL.Path == "/api/v1/namespaces":
					var items []string
					for _, name := range test.live {
						items = append(items, `{"metadata":{"name":"`+name+`","uid":"`+name+`","resourceVersion":"5","managedFields":[{"manager":"hns-sync-policy","operation":"Apply","fieldsV1":{}}]}}`)
					}
					_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},"items":[` + strings.Join(items, ",") + `]}`))
				default:
					_, _ = w.Write([]byte(map[string]string{
						"/api": `{"versions":["v1"]}`, "/apis": `{"groups":[]}`,
						"/api/v1": `{"groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","verbs":["list","watch","delete"]}]}`,
					}[r.URL.Path]))
				}
			}))
			defer server.Close()
			_, c := clustertest.New(t, server.URL)
			defer c.Stop()
			s := &v1alpha3.RepositorySync{Spec: v1alpha3.RepositorySyncSpec{Prune: true}}
			s.Status.Kinds = []metav1.GroupVersionResource{{Version: "v1", Resource: "namespaces"}}
			w := &worker{
				manager: &Manager{now: time.Now}, sync: s, cluster: c, result: result, desired: desired,
				current: &revision{commit: "slow", again: time.Now().Add(time.Hour), refused: test.refused},
				unknown: map[schema.GroupKind]error{object.Namespace: errors.New("not now")}, unverified: true,
			}
			for range 2 {
				done := &outcome{}
				if err := w.prepare(t.Context(), done); err != nil || done.reason != test.reason || len(w.unknown) > 0 || w.unverified != test.unverified || w.result != result {
					t.Errorf("got %v, %s: %s, unknown: %v, unverified: %t", err, done.reason, done.message, w.unknown, w.unverified)
				}
				if test.refused == nil && test.reason != "" && !strings.Contains(done.message, "commit slow remains in force as it was: ") {
					t.Errorf("got %s", done.message)
				}
			}
		})
	}
}

// TestChangesWithoutATraceAreLookedAtMoreAndMoreSeldom changes the cluster all the time, in ways that need a correction
// once.
func TestChangesWithoutATraceAreLookedAtMoreAndMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Spec: v1alpha3.RepositorySyncSpec{
			Source: v1alpha3.RepositorySource{URL: "file:///none"}, Interval: &hnc.Duration{Duration: time.Hour},
		}}
		m := &Manager{now: time.Now, Config: Config{
			Client: &rest.Config{Host: "http://127.0.0.1:1"}, Hierarchy: fake.NewClientset(s), Events: record.NewFakeRecorder(100), Metrics: NewMetrics(func(...metrics.Registerable) {}),
		}}
		w, err := newWorker(m, s)
		if err != nil {
			t.Fatal(err)
		}
		const corrected, last = 9, 12
		var waits []time.Duration
		began := time.Now()
		// A step asks for the time when it begins.
		m.now = func() time.Time {
			if now := time.Now(); now.After(began) || len(waits) == 0 {
				waits, began = append(waits, now.Sub(began)), now
				if len(waits) == corrected {
					w.corrections++
				}
				if len(waits) == last {
					cancel()
				}
				w.notify()
			}
			return began
		}
		w.run(ctx)
		want := []time.Duration{0, 100, 200, 400, 800, 1600, 3200, 6400, 10000, 100, 200, 400}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if !slices.Equal(waits, want) {
			t.Errorf("got the steps after %s, want %s", waits, want)
		}
	})
}
