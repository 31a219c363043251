package chaos

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// client-go repeats what has a Retry-After: the request does not fail, and is counted all the same.
func TestAttemptsThatAreRepeatedSilentlyAreCounted(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch asked.Add(1) {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			w.WriteHeader(http.StatusNotFound)
		case 4:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	c, err := newClients(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	request := func() error { return c.CoreV1().Namespaces().Delete(t.Context(), "x", metav1.DeleteOptions{}) }
	if err := request(); err == nil || asked.Load() != 3 {
		t.Fatalf("%d attempts: %v", asked.Load(), err)
	}
	if err := c.rollingRefusals(nil); err != nil {
		t.Errorf("a replica that stops may refuse so: %v", err)
	}
	_, _ = request(), request()
	want := map[string]int{"429" + repeated: 1, "503" + repeated: 1, "503": 1, unanswered: 1}
	if got := c.refused.since(nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := c.rollingRefusals(map[string]int{"503": 1}); err == nil {
		t.Error("a replica that stops must not close connections without a response")
	}
}
