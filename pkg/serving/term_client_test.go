package serving

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestARequestThatIsNotAnsweredEnds(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/begins" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		<-release
	}))
	defer server.Close()
	defer close(release)
	term, _, _, clock := testTerm()
	renewed := *clock
	term.renewed.Store(&renewed)
	client := http.Client{Transport: termTransport{term: term, reading: http.DefaultTransport, writing: http.DefaultTransport, timeout: 50 * time.Millisecond}}
	for _, asked := range []string{"PATCH /silent", "PATCH /begins", "GET /silent", "GET /begins", "GET /silent?watch=true"} {
		method, path, _ := strings.Cut(asked, " ")
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", asked, err)
		}
	}
}
