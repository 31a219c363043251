package ui

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
)

// markup is what an attacker may write into a condition.
const markup = `</script><img src=x onerror=alert(1)>`

var errDown = errors.New("connection refused")

// fakeReader has the namespace acme. Its watch reports one change and ends with the request.
type fakeReader struct {
	write        bool
	subnamespace types.UID
}

func (f fakeReader) Session() Session { return Session{Context: "test", Write: f.write} }
func (fakeReader) Forest(context.Context) (*Forest, error) {
	return &Forest{Namespaces: []Member{{Name: "acme", Labels: map[string]string{"note": markup}}}}, nil
}
func (fakeReader) Namespace(context.Context, string) (*Namespace, error) { return nil, errDown }
func (fakeReader) Objects(context.Context, string, string) (*Objects, error) {
	return &Objects{}, nil
}
func (fakeReader) Explain(context.Context, string, string, string) (*Explanation, error) {
	return &Explanation{Answer: &origin.Answer{}}, nil
}
func (fakeReader) Content(context.Context, string, string, string) (*Content, error) {
	return &Content{}, nil
}
func (fakeReader) Events(context.Context, string) (*Events, error) { return &Events{}, nil }
func (fakeReader) Mine(context.Context) ([]string, error)          { return nil, nil }
func (fakeReader) Access(context.Context, string, string, string) (*Access, error) {
	return &Access{}, nil
}
func (fakeReader) Quotas(context.Context) (*Quotas, error) { return &Quotas{}, nil }
func (fakeReader) Administration(context.Context) (*Administration, error) {
	return &Administration{}, nil
}
func (fakeReader) Checks(context.Context) ([]Check, error) { return nil, nil }
func (f fakeReader) Plan(_ context.Context, _ string, change Change) (*Plan, error) {
	return &Plan{Summary: change.Parent, Subnamespace: f.subnamespace}, nil
}
func (f fakeReader) Apply(_ context.Context, namespace string, change Change, subnamespace types.UID) error {
	if namespace != "acme" || change.Kind != ChangeMove || change.Parent != "globex" || subnamespace != f.subnamespace {
		return errDown
	}
	return nil
}
func (fakeReader) Watch(ctx context.Context, changed func()) error {
	changed()
	<-ctx.Done()
	return nil
}
func (fakeReader) Problem(err error) Problem { return Problem{Title: "down", Detail: err.Error()} }

func TestTextOfTheClusterIsNoMarkup(t *testing.T) {
	w := get(t, "/api/forest", nil)
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("the content type is %s", got)
	}
	if strings.Contains(w.Body.String(), "<") {
		t.Errorf("the answer contains markup: %s", w.Body)
	}
}

func TestErrorsOfTheClusterAreDescribed(t *testing.T) {
	w := get(t, "/api/namespaces/acme", nil)
	var problem Problem
	if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Code != http.StatusBadGateway || problem.Detail != errDown.Error() {
		t.Errorf("status %d, problem %+v, error %v", w.Code, problem, err)
	}
}

// serve starts a server, and returns what Serve returns after the context is done.
func serve(t *testing.T, s *Server) (stop context.CancelFunc, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- s.Serve(ctx) }()
	t.Cleanup(cancel)
	return cancel, result
}

func wait(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("the server did not end")
		return nil
	}
}

func TestServesOnLoopbackAndReportsChangesUntilItIsStopped(t *testing.T) {
	s, err := Listen(fakeReader{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if ip := s.listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		t.Errorf("the server listens on %s", ip)
	}
	address, pair, _ := strings.Cut(s.URL(), "/#token=")
	token, proof, _ := strings.Cut(pair, ".")
	stop, ended := serve(t, s)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/api/changes", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(proofHeader, token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got := response.Header.Get(proofHeader); got != proof || len(got) != len(token) || got == token {
		t.Errorf("the server's token is %q", got)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() && lines.Text() != "changed" {
	}
	if lines.Text() != "changed" {
		t.Errorf("the stream ended without a change: %v", lines.Err())
	}
	stop()
	if err := wait(t, ended); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

// unwatchedReader cannot begin a watch.
type unwatchedReader struct{ fakeReader }

func (unwatchedReader) Watch(context.Context, func()) error { return errDown }

func TestAStreamBeginsWithItsWatch(t *testing.T) {
	w := send(t, unwatchedReader{}, httptest.NewRequest(http.MethodGet, "/api/changes", nil), nil)
	if w.Body.Len() > 0 {
		t.Errorf("without a watch the stream has %q", w.Body)
	}
}

func TestWhatJSONCannotExpressIsAnError(t *testing.T) {
	w := httptest.NewRecorder()
	writeJSON(w, http.StatusOK, Limit{Share: math.NaN()})
	if w.Code != http.StatusInternalServerError || !json.Valid(w.Body.Bytes()) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestEndsWithoutRequests(t *testing.T) {
	s, err := Listen(fakeReader{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.idle.timer.Reset(0)
	_, ended := serve(t, s)
	if err := wait(t, ended); !errors.Is(err, ErrIdle) {
		t.Errorf("Serve returned %v", err)
	}
}

// Another site or program may send requests, although it gets nothing but the page.
func TestOnlyRequestsWithTheTokenKeepTheServer(t *testing.T) {
	i := newIdle(time.Hour)
	i.timer.Stop()
	h := handler(fakeReader{}, testHost, testTokens, i)
	for _, test := range []struct {
		path, site, token string
		counts            bool
	}{
		{"/", "cross-site", "", false},
		{"/", "none", "", false},
		{"/", "same-origin", testTokens.page, false},
		{"/api/session", "cross-site", testTokens.page, false},
		{"/api/session", "same-origin", "", false},
		{"/api/session", "same-origin", testTokens.page, true},
	} {
		r := httptest.NewRequest(http.MethodGet, test.path, nil)
		r.Host = testHost
		r.Header.Set("Sec-Fetch-Site", test.site)
		r.Header.Set(proofHeader, test.token)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if counts := i.timer.Stop(); counts != test.counts {
			t.Errorf("%+v: it counts: %t", test, counts)
		}
	}
}

func TestIsNotIdleDuringARequest(t *testing.T) {
	i := newIdle(time.Hour)
	defer i.timer.Stop()
	i.add(1)
	i.expire()
	select {
	case <-i.expired:
		t.Error("it expired during a request")
	default:
	}
	i.add(-1)
	i.expire()
	select {
	case <-i.expired:
	default:
		t.Error("it did not expire after the request")
	}
}
