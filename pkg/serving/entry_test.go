package serving

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/path"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Requests without credentials cost no review.
func TestAnAPIIsNotForAnonymousUsers(t *testing.T) {
	for path, want := range map[string]int{"/apis/x/v1": http.StatusUnauthorized, "/metrics": http.StatusUnauthorized, "/any": http.StatusUnauthorized, "/readyz": http.StatusOK} {
		s := New("test")
		s.API = http.NotFoundHandler()
		if got, body := get(t, s, nil, path); got != want {
			t.Errorf("%s answers %d, want %d: %s", path, got, want, body)
		}
	}
}

// The same applies to servers without an API.
func TestAnonymousUsersCostNoReview(t *testing.T) {
	reviewed := false
	open, err := path.NewAuthorizer([]string{"/livez", "/debug/*"})
	if err != nil {
		t.Fatal(err)
	}
	handler := withoutAnonymous(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reviewed = true }), open)
	for asked, want := range map[string]bool{"/x": false, "/livez": true, "/livez/x": false, "/debug/heap": true} {
		for name, want := range map[string]bool{user.Anonymous: want, "jane": true} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, asked, nil)
			w := httptest.NewRecorder()
			reviewed = false
			handler.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), &user.DefaultInfo{Name: name})))
			if reviewed != want || (w.Code == http.StatusUnauthorized) == want {
				t.Errorf("%s asks for %s: reviewed %t, status %d", name, asked, reviewed, w.Code)
			}
		}
	}
}

// Requests that wait for reviews are limited, and those that are entered do not count.
func TestWaitingForReviewsIsBounded(t *testing.T) {
	e := newEntry(1, 1, nil)
	waiting, serve := make(chan struct{}), make(chan struct{})
	request := func(handler http.Handler) int {
		w := httptest.NewRecorder()
		e.bounded(e.shared(handler)).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		return w.Code
	}
	blocked := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(waiting); <-serve })
	done := make(chan int)
	go func() { done <- request(blocked) }()
	<-waiting
	if got := request(http.NotFoundHandler()); got != http.StatusTooManyRequests {
		t.Errorf("while another one waits: %d", got)
	}
	close(serve)
	<-done
	inner := e.entered(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(request(http.NotFoundHandler())) }))
	if got := request(inner); got != http.StatusNotFound {
		t.Errorf("while another one is served: %d", got)
	}
}

// A token is reviewed to the end although its client has gone; nothing else outlives its request.
func TestAPlaceIsKeptForTheTimeOfAReview(t *testing.T) {
	for name, test := range map[string]struct {
		token         string
		authenticated bool
		after         int
	}{
		"during the review":    {"Bearer any", false, http.StatusTooManyRequests},
		"after the review":     {"Bearer any", true, http.StatusNotFound},
		"without such a token": {"", false, http.StatusNotFound},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newEntry(1, 1, nil)
			authentication := e.tokens.Authenticator(authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) { return nil, true, nil }))
			request := func(ctx context.Context, handler http.HandlerFunc) int {
				w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
				r.Header.Set("Authorization", test.token)
				e.bounded(handler).ServeHTTP(w, r)
				return w.Code
			}
			ctx, cancel := context.WithCancel(t.Context())
			request(ctx, func(_ http.ResponseWriter, r *http.Request) {
				if test.authenticated {
					_, _, _ = authentication.AuthenticateRequest(r)
				}
				cancel()
			})
			if got := request(t.Context(), http.NotFound); got != test.after {
				t.Errorf("the client leaves %s: %d, want %d", name, got, test.after)
			}
			time.Sleep(reviewTimeout)
			synctest.Wait()
			if got := request(t.Context(), http.NotFound); got != http.StatusNotFound {
				t.Errorf("the client left %s, after the time of a review: %d", name, got)
			}
		})
	}
}

// Invalid tokens keep neither probes nor kube-apiserver, which has a certificate, from being served.
func TestTokensHavePlacesOfTheirOwn(t *testing.T) {
	e := newEntry(1, 1, []string{"/livez"})
	serve, waiting := make(chan struct{}), make(chan struct{})
	request := func(path, header, token string, handler http.Handler) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set(header, token)
		e.bounded(e.shared(handler)).ServeHTTP(w, r)
		return w.Code
	}
	done := make(chan int)
	go func() {
		done <- request("/apis", "Authorization", "Bearer x", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(waiting); <-serve }))
	}()
	<-waiting
	for _, test := range []struct {
		path, header, token string
		want                int
	}{
		{"/apis", "Authorization", "Bearer y", http.StatusTooManyRequests},
		{"/livez", "Authorization", "Bearer y", http.StatusTooManyRequests},
		{"/apis", "Sec-WebSocket-Protocol", "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.eA", http.StatusTooManyRequests},
		{"/apis", "Accept", "any", http.StatusNotFound},
		{"/livez", "Accept", "any", http.StatusNotFound},
	} {
		if got := request(test.path, test.header, test.token, http.NotFoundHandler()); got != test.want {
			t.Errorf("%s with the header %s while a token is reviewed: got %d, want %d", test.path, test.header, got, test.want)
		}
	}
	close(serve)
	<-done
	if !e.others.TryAcquire(1) {
		t.Error("a request that has ended keeps its place")
	}
	if got := request("/livez", "Accept", "any", http.NotFoundHandler()); got != http.StatusNotFound {
		t.Errorf("a probe beside as many requests as may wait: %d", got)
	}
}

// Users with valid tokens keep no place of kube-apiserver, which has a certificate.
func TestSharesOfTokensAreTheirOwn(t *testing.T) {
	e := newEntry(1, 1, nil)
	request := func(token string, handler http.Handler) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(request.WithUser(t.Context(), &user.DefaultInfo{Name: "user of " + token}), http.MethodGet, "/", nil)
		r.Header.Set("Authorization", token)
		e.bounded(e.shared(handler)).ServeHTTP(w, r)
		return w.Code
	}
	request("Bearer a", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if got := request("", http.NotFoundHandler()); got != http.StatusNotFound {
			t.Errorf("a request without a token beside as many with tokens as may wait: %d", got)
		}
	}))
}

// A user who asks for what others wait for takes no more than a share of the places.
func TestOneUserDoesNotWaitInAllPlaces(t *testing.T) {
	e := newEntry(3, 1, nil)
	serve, waiting := make(chan struct{}), make(chan struct{}, 3)
	request := func(name string, handler http.Handler) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r = r.WithContext(request.WithUser(r.Context(), &user.DefaultInfo{Name: name}))
		e.bounded(e.shared(handler)).ServeHTTP(w, r)
		return w.Code
	}
	blocked := e.entered(http.NotFoundHandler())
	review := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		waiting <- struct{}{}
		<-serve
		blocked.ServeHTTP(w, r)
	})
	done := make(chan int)
	go func() { done <- request("mallory", review) }()
	<-waiting
	if got := request("mallory", review); got != http.StatusTooManyRequests {
		t.Errorf("while a review of the same user waits: %d", got)
	}
	if got := request("jane", http.NotFoundHandler()); got != http.StatusNotFound {
		t.Errorf("while a review of another user waits: %d", got)
	}
	close(serve)
	<-done
	if got := request("mallory", http.NotFoundHandler()); got != http.StatusNotFound {
		t.Errorf("after the review: %d", got)
	}
}

// kube-apiserver takes the API for unavailable if its own requests are not answered. They need no review.
func TestWhatNeedsNoReviewDoesNotWait(t *testing.T) {
	e := newEntry(1, 1, []string{"/livez"})
	if !e.others.TryAcquire(1) {
		t.Fatal("there is no place")
	}
	s := &Options{API: http.NotFoundHandler()}
	discovery := &request.RequestInfo{Path: "/apis/x/v1"}
	for name, test := range map[string]struct {
		path, group string
		info        *request.RequestInfo
		want        int
	}{
		"kube-apiserver's":      {"/apis/x/v1/tenants", user.SystemPrivilegedGroup, &request.RequestInfo{IsResourceRequest: true}, http.StatusNotFound},
		"of another user":       {"/apis/x/v1/tenants", "any", &request.RequestInfo{IsResourceRequest: true}, http.StatusTooManyRequests},
		"discovery":             {"/apis/x/v1", "any", discovery, http.StatusNotFound},
		"discovery, and so on":  {"/apis/x/v1////", "any", discovery, http.StatusNotFound},
		"what is not discovery": {"/metrics", "any", &request.RequestInfo{Path: "/metrics"}, http.StatusTooManyRequests},
		"a probe":               {"/livez", "any", &request.RequestInfo{Path: "/livez"}, http.StatusNotFound},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, nil)
		ctx := request.WithRequestInfo(request.WithUser(r.Context(), &user.DefaultInfo{Name: "jane", Groups: []string{test.group}}), test.info)
		e.bounded(s.withDiscovery(e.shared(http.NotFoundHandler()))).ServeHTTP(w, r.WithContext(ctx))
		if w.Code != test.want {
			t.Errorf("%s: got %d, want %d", name, w.Code, test.want)
		}
	}
}

// Whoever sends them: segments and short headers take many times their bytes.
func TestRequestsOfManyPartsAreRejectedFirst(t *testing.T) {
	many := http.Header{"Accept": make([]string, 5001)}
	for name, test := range map[string]struct {
		api    bool
		path   string
		header http.Header
		want   int
	}{
		"a path of many segments": {true, "/apis/x/v1" + strings.Repeat("/", 1000), nil, http.StatusBadRequest},
		"a long path of an API":   {true, "/apis/x/v1/" + strings.Repeat("x", 4<<10), nil, http.StatusOK},
		"a long query":            {true, "/apis/x/v1?x=" + strings.Repeat("x", 32<<10), nil, http.StatusOK},
		"a long path of none":     {false, "/apis/x/v1/" + strings.Repeat("x", 4<<10), nil, http.StatusBadRequest},
		"a long other path":       {true, "/" + strings.Repeat("x", 4<<10), nil, http.StatusBadRequest},
		"many headers":            {true, "/metrics", many, http.StatusBadRequest},
		"a probe":                 {false, "/livez", nil, http.StatusOK},
	} {
		s := &Options{}
		if test.api {
			s.API = http.NotFoundHandler()
		}
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, nil)
		r.Header = test.header
		s.withSizes(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != test.want || len(r.RequestURI) > 1<<10 {
			t.Errorf("%s: got %d, want %d; %d bytes of the URL may be logged", name, w.Code, test.want, len(r.RequestURI))
		}
	}
}

func TestReviewsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := authorizer.AuthorizerFunc(func(ctx context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
			<-ctx.Done()
			return authorizer.DecisionNoOpinion, "", ctx.Err()
		})
		if _, _, err := withDeadline(silent).Authorize(t.Context(), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// The lease is not given away while writes may be on their way.
func TestALeaseIsReleasedAfterTheWork(t *testing.T) {
	finished := make(chan struct{})
	lock := heldLock{&written{}, finished}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Errorf("renewing: %v", err)
	}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err == nil {
		t.Error("the lease is released before the work is finished")
	}
	close(finished)
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
		t.Errorf("releasing: %v", err)
	}
}

// written is a lock that accepts all writes.
type written struct{ resourcelock.Interface }

func (*written) Update(context.Context, resourcelock.LeaderElectionRecord) error { return nil }
