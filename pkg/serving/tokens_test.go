package serving

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// Invalid tokens do not fill the memory, and do not keep kube-apiserver out, which sends none.
func TestReviewsOfTokensAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, serving := newTokens(1), make(chan struct{})
		authentication := tokens.Authenticator(authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
			if r.Header.Get("Authorization") == "Bearer reviewed" {
				<-r.Context().Done()
			}
			return nil, true, nil
		}))
		handler := tokens.Bounded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/early" {
				return
			}
			_, _, _ = authentication.AuthenticateRequest(r)
			if r.URL.Path == "/long" {
				<-serving
			}
		}))
		request := func(ctx context.Context, path, token string) int {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			handler.ServeHTTP(w, r)
			return w.Code
		}
		expect := func(when, path, token string, want int) {
			t.Helper()
			if got := request(t.Context(), path, token); got != want {
				t.Errorf("%s: got %d, want %d", when, got, want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		go request(ctx, "/", "reviewed")
		synctest.Wait()
		expect("a token during a review", "/", "other", http.StatusTooManyRequests)
		expect("a forwarded request during a review", "/", "", http.StatusOK)
		cancel()
		synctest.Wait()
		expect("after the client of the review has gone", "/", "other", http.StatusTooManyRequests)
		time.Sleep(reviewTimeout)
		synctest.Wait()
		expect("after the time of the review", "/early", "other", http.StatusOK)
		go request(t.Context(), "/long", "known")
		synctest.Wait()
		expect("while an authenticated request is served", "/", "other", http.StatusOK)
		close(serving)
	})
}
