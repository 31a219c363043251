package ui

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

const testHost = "127.0.0.1:4711"

var testTokens = tokens{"the-token", "the-server"}

// get requests a path from the test's server as the page would, after change.
func get(t *testing.T, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	return send(t, fakeReader{}, httptest.NewRequest(http.MethodGet, path, nil), change)
}

// send sends a request to a server as the page would, after change.
func send(t *testing.T, reader Reader, r *http.Request, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r.Host = testHost
	r.Header.Set(proofHeader, testTokens.page)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	requests := newIdle(time.Hour)
	defer requests.timer.Stop()
	handler(reader, testHost, testTokens, requests).ServeHTTP(w, r)
	return w
}

func TestRefusesRequestsThatThePageHasNotSent(t *testing.T) {
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	host := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	for name, row := range map[string]struct {
		path   string
		change func(*http.Request)
		status int
	}{
		"the page's own":                  {"/api/forest", nil, http.StatusOK},
		"its origin":                      {"/api/forest", header("Origin", "http://"+testHost), http.StatusOK},
		"no fetch metadata":               {"/api/forest", func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }, http.StatusOK},
		"a rebound name":                  {"/api/forest", host("evil.example:4711"), http.StatusForbidden},
		"localhost":                       {"/api/forest", host("localhost:4711"), http.StatusForbidden},
		"another port":                    {"/api/forest", host("127.0.0.1:4712"), http.StatusForbidden},
		"no port":                         {"/api/forest", host("127.0.0.1"), http.StatusForbidden},
		"no host":                         {"/api/forest", host(""), http.StatusForbidden},
		"a rebound name for the page":     {"/", host("evil.example:4711"), http.StatusForbidden},
		"another origin":                  {"/api/forest", header("Origin", "http://evil.example"), http.StatusForbidden},
		"another port's origin":           {"/api/forest", header("Origin", "http://127.0.0.1:4712"), http.StatusForbidden},
		"https":                           {"/api/forest", header("Origin", "https://"+testHost), http.StatusForbidden},
		"a sandboxed origin":              {"/api/forest", header("Origin", "null"), http.StatusForbidden},
		"an empty origin":                 {"/api/forest", header("Origin", ""), http.StatusForbidden},
		"two origins":                     {"/api/forest", func(r *http.Request) { r.Header["Origin"] = []string{"http://" + testHost, "http://evil.example"} }, http.StatusForbidden},
		"another site":                    {"/api/forest", header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"another port of the machine":     {"/api/forest", header("Sec-Fetch-Site", "same-site"), http.StatusForbidden},
		"an address that a user enters":   {"/", header("Sec-Fetch-Site", "none"), http.StatusOK},
		"the same for data":               {"/api/forest", header("Sec-Fetch-Site", "none"), http.StatusForbidden},
		"a link from another site":        {"/", header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"the script from another site":    {"/app.js", header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"no token":                        {"/api/forest", func(r *http.Request) { r.Header.Del(proofHeader) }, http.StatusUnauthorized},
		"another token":                   {"/api/forest", header(proofHeader, "The-token"), http.StatusUnauthorized},
		"the server's token":              {"/api/forest", header(proofHeader, testTokens.server), http.StatusUnauthorized},
		"a part of the token":             {"/api/forest", header(proofHeader, "the-toke"), http.StatusUnauthorized},
		"the token in a query":            {"/api/forest?token=the-token", func(r *http.Request) { r.Header.Del(proofHeader) }, http.StatusUnauthorized},
		"a write":                         {"/api/forest", func(r *http.Request) { r.Method = http.MethodPost }, http.StatusMethodNotAllowed},
		"a deletion":                      {"/ns/acme", func(r *http.Request) { r.Method = http.MethodDelete }, http.StatusMethodNotAllowed},
		"a preflight of another origin":   {"/api/forest", func(r *http.Request) { r.Method = http.MethodOptions }, http.StatusMethodNotAllowed},
		"a path around the token":         {"//api/forest", func(r *http.Request) { r.Header.Del(proofHeader) }, http.StatusTemporaryRedirect},
		"another path around it":          {"/x/../api/forest", func(r *http.Request) { r.Header.Del(proofHeader) }, http.StatusTemporaryRedirect},
		"the API of the cluster":          {"/api/v1/secrets", nil, http.StatusNotFound},
		"a path of the API for a name":    {"/api/namespaces/a/objects/secrets/..%2F..%2Fb", nil, http.StatusBadRequest},
		"a name that is not a namespace":  {"/api/namespaces/A%20B", nil, http.StatusBadRequest},
		"a resource with a query":         {"/api/namespaces/a/objects/pods%2Flog", nil, http.StatusBadRequest},
		"a name within the page's limits": {"/api/namespaces/a/objects/roles/system:reader", nil, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			w := get(t, row.path, row.change)
			if w.Code != row.status {
				t.Errorf("status %d, want %d: %s", w.Code, row.status, w.Body)
			}
			// Data prove that the server has sent them, even when it answers with an error.
			if proof := w.Header().Get(proofHeader); (proof == testTokens.server) != (strings.HasPrefix(row.path, "/api/") && w.Code != http.StatusUnauthorized) {
				t.Errorf("the server's token is %q", proof)
			}
			for key := range w.Header() {
				if strings.HasPrefix(key, "Access-Control-") || key == "Set-Cookie" {
					t.Errorf("the answer has the header %s", key)
				}
			}
		})
	}
}

// shown returns the digest of the plan of a move that the page shows.
func shown(t *testing.T, reader Reader) string {
	t.Helper()
	var p Plan
	w := send(t, reader, httptest.NewRequest(http.MethodGet, "/api/namespaces/acme/plan?change=move&parent=globex", nil), nil)
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Digest == "" {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return p.Digest
}

// A plan that is read again is the same one unless it would do something else.
func TestDigestsAreOfWhatAPersonDecidesBy(t *testing.T) {
	plan := func(change func(*v1alpha3.HierarchyPlanStatus)) string {
		status := v1alpha3.HierarchyPlanStatus{
			Unknown:        []string{"secrets: forbidden in the namespace a"},
			ExceededQuotas: []v1alpha3.ExceededQuota{{Resource: "pods", Used: "3", Moved: "1", Limit: "3"}},
			Namespaces:     []v1alpha3.NamespacePlan{{Name: "a", Quotas: []v1alpha3.PlannedQuota{{Resource: "count/secrets", Hard: 1, Planned: 2}}}},
		}
		change(&status)
		text, err := digest(Plan{Status: status})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	shown := plan(func(*v1alpha3.HierarchyPlanStatus) {})
	for name, test := range map[string]struct {
		change func(*v1alpha3.HierarchyPlanStatus)
		same   bool
	}{
		"another reason":          {func(s *v1alpha3.HierarchyPlanStatus) { s.Unknown[0] = "secrets: forbidden in the namespace b" }, true},
		"more in use":             {func(s *v1alpha3.HierarchyPlanStatus) { s.ExceededQuotas[0].Used = "4" }, true},
		"more objects":            {func(s *v1alpha3.HierarchyPlanStatus) { s.Namespaces[0].Quotas[0].Planned = 3 }, true},
		"another unknown kind":    {func(s *v1alpha3.HierarchyPlanStatus) { s.Unknown[0] = "roles: forbidden" }, false},
		"another exceeded quota":  {func(s *v1alpha3.HierarchyPlanStatus) { s.ExceededQuotas[0].Resource = "services" }, false},
		"another namespace":       {func(s *v1alpha3.HierarchyPlanStatus) { s.Namespaces[0].Name = "b" }, false},
		"something else is moved": {func(s *v1alpha3.HierarchyPlanStatus) { s.ExceededQuotas[0].Moved = "2" }, false},
	} {
		if got := plan(test.change); (got == shown) != test.same {
			t.Errorf("%s: the digest is the same: %t", name, got == shown)
		}
	}
}

func TestWritesAreRefusedUnlessThePageSendsThemAndMayWrite(t *testing.T) {
	const path = "/api/namespaces/acme/changes"
	body := `{"change":"move","parent":"globex","plan":"` + shown(t, fakeReader{}) + `"}`
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	for name, row := range map[string]struct {
		method, path, body string
		write              bool
		change             func(*http.Request)
		status             int
	}{
		"the page's own":          {http.MethodPost, path, body, true, nil, http.StatusOK},
		"read-only":               {http.MethodPost, path, body, false, nil, http.StatusMethodNotAllowed},
		"no origin":               {http.MethodPost, path, body, true, func(r *http.Request) { r.Header.Del("Origin") }, http.StatusForbidden},
		"another origin":          {http.MethodPost, path, body, true, header("Origin", "http://evil.example"), http.StatusForbidden},
		"another site":            {http.MethodPost, path, body, true, header("Sec-Fetch-Site", "same-site"), http.StatusForbidden},
		"a form":                  {http.MethodPost, path, body, true, header("Content-Type", "text/plain"), http.StatusForbidden},
		"no token":                {http.MethodPost, path, body, true, func(r *http.Request) { r.Header.Del(proofHeader) }, http.StatusUnauthorized},
		"a rebound name":          {http.MethodPost, path, body, true, func(r *http.Request) { r.Host = "evil.example" }, http.StatusForbidden},
		"another address":         {http.MethodPost, "/api/namespaces/acme", body, true, nil, http.StatusMethodNotAllowed},
		"an address of the page":  {http.MethodPost, "/ns/acme", body, true, nil, http.StatusMethodNotAllowed},
		"another method":          {http.MethodPut, path, body, true, nil, http.StatusMethodNotAllowed},
		"a name that is no name":  {http.MethodPost, "/api/namespaces/A%20B/changes", body, true, nil, http.StatusBadRequest},
		"an unknown field":        {http.MethodPost, path, `{"change":"move","parent":"globex","force":true}`, true, nil, http.StatusBadRequest},
		"too long":                {http.MethodPost, path, `{"parent":"` + strings.Repeat("a", 1<<20) + `"}`, true, nil, http.StatusBadRequest},
		"another plan":            {http.MethodPost, path, `{"change":"move","parent":"globex","plan":"` + shown(t, fakeReader{subnamespace: "other"}) + `"}`, true, nil, http.StatusConflict},
		"no plan":                 {http.MethodPost, path, `{"change":"move","parent":"globex"}`, true, nil, http.StatusConflict},
		"an error of the cluster": {http.MethodPost, "/api/namespaces/globex/changes", body, true, nil, http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			w := send(t, fakeReader{write: row.write}, httptest.NewRequest(row.method, row.path, strings.NewReader(row.body)), func(r *http.Request) {
				r.Header.Set("Origin", "http://"+testHost)
				r.Header.Set("Content-Type", "application/json")
				if row.change != nil {
					row.change(r)
				}
			})
			if w.Code != row.status {
				t.Errorf("status %d, want %d: %s", w.Code, row.status, w.Body)
			}
		})
	}
}

func TestEveryAnswerHasSecurityHeaders(t *testing.T) {
	for _, path := range []string{"/", "/ns/acme", "/app.js", "/app.css", "/icon.svg", "/api/forest", "/api/none"} {
		header := get(t, path, nil).Header()
		for key, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := header.Get(key); got != want {
				t.Errorf("%s: %s is %q, want %q", path, key, got, want)
			}
		}
		policy := header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy lacks %s", path, want)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %s", path, policy)
		}
	}
}

func TestTokensAre256BitsAndDiffer(t *testing.T) {
	a, b := newToken(), newToken()
	if len(a) != 43 || a == b {
		t.Errorf("tokens %q and %q", a, b)
	}
}
