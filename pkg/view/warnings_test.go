package view

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestNamesInWarningsAreTranslated(t *testing.T) {
	h := relative(t, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{}`)), Header: http.Header{"Content-Type": {"application/json"}, "Warning": {
			`299 - "in namespace \"acme-x\": a \\ b of \"acme-x\"", 299 - "namespace \"argocd\""`, `299 agent "namespace: \"acme-x\" is old"`, `malformed`,
		}}}, nil
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/x/pods", nil))
	want := []string{`299 - "in namespace \"x\": a \\ b of \"x\""`, `299 - "namespace \"argocd.external\""`, `299 agent "namespace: \"x\" is old"`}
	if got := w.Header()["Warning"]; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
