package gateway

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

func as(ctx context.Context, name string) context.Context {
	return request.WithUser(ctx, &user.DefaultInfo{Name: name})
}

// Only what kube-apiserver serves as a stream is one: not what is answered as a whole, whatever its query and headers
// say.
func TestOnlyReadsAreStreams(t *testing.T) {
	infos := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	const pods = "/api/v1/namespaces/a/pods"
	for _, test := range []struct {
		method, path, upgrade string
		want                  bool
	}{
		{http.MethodGet, pods + "?watch=true", "", true},
		{http.MethodGet, pods + "?watch=1&fieldSelector=metadata.name%3Dx", "", true},
		{http.MethodGet, "/api/v1/namespaces?watch=1", "", true},
		{http.MethodGet, pods + "?watch=false", "", false},
		{http.MethodGet, pods + "?follow=true", "", false},
		{http.MethodGet, pods + "/x?watch=1", "", false},
		{http.MethodGet, "/api/v1/namespaces/a?watch=1", "", false},
		{http.MethodGet, "/openapi/v2?watch=1", "", false},
		{http.MethodGet, "/openapi/v2", "websocket", false},
		{http.MethodGet, "/apis?follow=1", "", false},
		{http.MethodGet, pods + "/x/log?follow=1", "", true},
		{http.MethodGet, pods + "/x/log", "", false},
		{http.MethodGet, pods + "/x", "websocket", false},
		{http.MethodPost, pods + "?watch=true", "", false},
		{http.MethodPost, "/api/v1/namespaces", "SPDY/3.1", false},
		{http.MethodPut, pods + "/x?follow=true", "", false},
		{http.MethodPost, pods + "/x/exec", "SPDY/3.1", true},
	} {
		r := httptest.NewRequest(test.method, test.path, nil)
		if test.upgrade != "" {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", test.upgrade)
		}
		info, err := infos.NewRequestInfo(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := view.IsStream(r, info); got != test.want {
			t.Errorf("%s %s %s: %t", test.method, test.path, test.upgrade, got)
		}
	}
}

// One user of a view leaves half of everything to the others.
func TestOneUserHasHalfOfAView(t *testing.T) {
	limits := Limits{Requests: 4, Streams: 4, AllStreams: 4}
	b := newBudget(limits, newShared(limits, nil))
	request := func(path string) func(string) (func(), error) {
		return func(name string) (func(), error) {
			r := httptest.NewRequestWithContext(as(t.Context(), name), http.MethodGet, path, nil)
			return b.Begin(r, &request.RequestInfo{IsResourceRequest: true, Verb: path[1:]})
		}
	}
	for what, take := range map[string]func(user string) (func(), error){
		"requests":  request("/get"),
		"streams":   request("/watch"),
		"bodies":    func(user string) (func(), error) { return b.Body(as(t.Context(), user), maxViewBodies/4) },
		"responses": func(user string) (func(), error) { return b.Response(as(t.Context(), user), maxViewResponses/4) },
	} {
		var releases []func()
		for _, user := range []string{"jane", "jane", "joe", "joe"} {
			release, err := take(user)
			if err != nil {
				t.Fatalf("%s of %s: %v", what, user, err)
			}
			releases = append(releases, release)
			if user == "jane" && len(releases) < 2 {
				continue
			}
			if _, err := take("jane"); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), `user "jane"`) {
				t.Errorf("%s of jane: %v", what, err)
			}
		}
		if _, err := take("jim"); !apierrors.IsTooManyRequests(err) {
			t.Errorf("%s of jim: %v", what, err)
		}
		for _, release := range releases {
			release()
		}
		release, err := take("jane")
		if err != nil {
			t.Errorf("%s after all have ended: %v", what, err)
			continue
		}
		release()
	}
}

func TestStreamsOfAllViewsAreLimited(t *testing.T) {
	limits := Limits{Requests: 1, Streams: 4, AllStreams: 3}
	all := newShared(limits, nil)
	begin := func(b *budget, verb string) (func(), error) {
		return b.Begin(httptest.NewRequestWithContext(as(t.Context(), "jane"), http.MethodGet, "/", nil), &request.RequestInfo{IsResourceRequest: true, Verb: verb})
	}
	var releases []func()
	for range limits.AllStreams {
		release, err := begin(newBudget(limits, all), "watch")
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	b := newBudget(limits, all)
	for range limits.Streams { // nothing stays of what is rejected
		if _, err := begin(b, "watch"); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "all views") {
			t.Errorf("more than all may have: %v", err)
		} else if seconds, ok := apierrors.SuggestsClientDelay(err); !ok || seconds != retryAfter {
			t.Errorf("without Retry-After: %v", err)
		}
	}
	if _, err := begin(b, "get"); err != nil {
		t.Errorf("a request that is no stream: %v", err)
	}
	releases[0]()
	if _, err := begin(b, "watch"); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

func TestBodiesOfAllViewsAreLimited(t *testing.T) {
	all := newShared(Limits{}, nil)
	var releases []func()
	for range maxBodies / half(maxViewBodies) {
		release, err := newBudget(Limits{}, all).Body(as(t.Context(), "jane"), 2*maxViewBodies) // counts as what jane can have
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	b := newBudget(Limits{}, all)
	for range 2 { // nothing stays of what is rejected
		if _, err := b.Body(as(t.Context(), "jane"), int64(half(maxViewBodies))); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "all views") {
			t.Errorf("more than all may have: %v", err)
		}
	}
	releases[0]()
	if _, err := b.Body(as(t.Context(), "jane"), int64(half(maxViewBodies))); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

// What responds to a write waits, because the write has happened.
func TestResponsesToWritesWait(t *testing.T) {
	b := newBudget(Limits{}, newShared(Limits{}, nil))
	release, err := b.Response(as(t.Context(), "jane"), maxViewResponses)
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(as(t.Context(), "jane"), 100*time.Millisecond)
	defer cancel()
	_, err = b.Answer(soon, 1)
	if _, repeats := apierrors.SuggestsClientDelay(err); !apierrors.IsTimeout(err) || repeats {
		t.Errorf("got %v, which clients repeat: %t", err, repeats)
	}
	waited := make(chan error)
	go func() {
		_, err := b.Answer(as(t.Context(), "jane"), 1)
		waited <- err
	}()
	release()
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if _, err := b.Response(as(t.Context(), "jane"), maxViewResponses); !apierrors.IsTooManyRequests(err) {
		t.Errorf("it is not counted: %v", err)
	}
}

// A user can have an object as large as it counts, both while it is converted and while it is translated.
func TestTheLargestObjectHasRoom(t *testing.T) {
	b := newBudget(Limits{}, newShared(Limits{}, nil))
	for range 2 {
		if _, err := b.Response(as(t.Context(), "jane"), view.MaxPart); err != nil {
			t.Error(err)
		}
	}
}

// A document of OpenAPI uses much memory while it is changed.
func TestFewDocumentsAreChangedAtTheSameTime(t *testing.T) {
	all := newShared(Limits{}, nil)
	one, other := newBudget(Limits{}, all), newBudget(Limits{}, all)
	var releases []func()
	for _, b := range []*budget{one, one, other, other, newBudget(Limits{}, all), newBudget(Limits{}, all), newBudget(Limits{}, all), newBudget(Limits{}, all)} {
		_, release, err := b.Document(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, b := range map[string]*budget{"a view that has its part": one, "another one": newBudget(Limits{}, all)} {
		if _, _, err := b.Document(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	waited := make(chan error)
	go func() {
		_, _, err := one.Document(t.Context())
		waited <- err
	}()
	for _, release := range releases {
		release()
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

// Documents that are read already do not wait for bytes, which others could have until they get those of this one.
func TestLargeDocumentsDoNotWaitForEachOther(t *testing.T) {
	all := newShared(Limits{}, nil)
	document := func() (func(int64) error, func()) {
		t.Helper()
		grow, release, err := newBudget(Limits{}, all).Document(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return grow, release
	}
	grow, release := document()
	growOther, releaseOther := document()
	if err := grow(maxDocuments - minDocument); err != nil {
		t.Errorf("what the other one leaves: %v", err)
	}
	if err := growOther(minDocument); err != nil {
		t.Errorf("what every document has: %v", err)
	}
	if err := growOther(minDocument + 1); !apierrors.IsTooManyRequests(err) {
		t.Errorf("more than is left: %v", err)
	}
	releaseOther()
	if err := grow(maxDocuments); err != nil {
		t.Errorf("all: %v", err)
	}
	release()
	grow, release = document()
	defer release()
	if err := grow(maxDocuments); err != nil {
		t.Errorf("after all have ended: %v", err)
	}
}

// Bodies count from the time when their client begins to send them.
func TestTooManyBodiesOfAViewAreRejected(t *testing.T) {
	g := newGateway(t, nil)
	g.Views.Limits.Requests = 100
	v := tenantView(2)
	v.Spec.Names = v1alpha3.NamesRelative
	g.set(v)
	s := g.get("a")
	send := func(name string, body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(as(t.Context(), name), http.MethodPost, "/api/v1/namespaces?watch=true", body)
		r.ContentLength = 3 << 20
		w := httptest.NewRecorder()
		s.serve(w, r)
		return w
	}
	var group sync.WaitGroup
	var ends []func() error
	for _, name := range []string{"jane", "jane", "joe", "joe", "jim"} {
		body, sending := io.Pipe()
		ends = append(ends, sending.Close)
		group.Go(func() { send(name, body) })
		if _, err := sending.Write([]byte("{")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"jane", "ann"} {
		w := send(name, strings.NewReader("{}"))
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "bodies") {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
	}
	for _, end := range ends {
		_ = end()
	}
	group.Wait()
	if w := send("jane", strings.NewReader("{}")); w.Code == http.StatusTooManyRequests {
		t.Errorf("after they have ended: got %d %s", w.Code, w.Body)
	}
}

func TestRequestsAreMeasured(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	limits := Limits{Requests: 2, Streams: 2, AllStreams: 2}
	b := newBudget(limits, newShared(limits, NewMetrics(registry.MustRegister)))
	begin := func(verb string) func() {
		t.Helper()
		release, err := b.Begin(httptest.NewRequestWithContext(as(t.Context(), "jane"), http.MethodGet, "/", nil), &request.RequestInfo{IsResourceRequest: true, Verb: verb})
		if err != nil {
			return nil
		}
		return release
	}
	got := begin("get")
	if begin("list") != nil {
		t.Error("one user has more than half of the requests")
	}
	got()
	begin("no-such-method")()
	begin("watch")
	full, err := b.Response(as(t.Context(), "jane"), maxViewResponses)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(as(t.Context(), "jane"))
	cancel()
	if _, err := b.Answer(gone, 1); err == nil {
		t.Error("one user has more than half of the responses")
	}
	full()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			counted[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	want := map[string]float64{"hns_view_request_duration_seconds get": 1, "hns_view_request_duration_seconds other": 1, "hns_view_rejections_total requests": 1, "hns_view_streams": 1}
	if !maps.Equal(counted, want) {
		t.Errorf("got %v, want %v", counted, want)
	}
}
