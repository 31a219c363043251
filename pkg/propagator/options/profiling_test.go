package options

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

func TestProfilesAreServedOnlyIfAskedFor(t *testing.T) {
	for profiling, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		o := New()
		o.MetricsBindAddress, o.Profiling = listener.Addr().String(), profiling
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served, err := o.serve(ctx, leaderelection.NewLeaderHealthzAdaptor(time.Second), http.NotFoundHandler())
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"heap", "mutex", "block", "profile?seconds=1"} {
			response, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/%s", o.MetricsBindAddress, path))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("profiling %t: %s answers %s", profiling, path, response.Status)
			}
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
