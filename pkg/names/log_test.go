package names

import (
	"bytes"
	"errors"
	"flag"
	"net/url"
	"strings"
	"testing"

	"k8s.io/klog/v2"
)

// Tenants choose names of hundreds of kilobytes, and the URLs of requests. Libraries repeat them.
func TestLogsDoNotRepeatLongNames(t *testing.T) {
	var logged bytes.Buffer
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{"-logtostderr=false", "-alsologtostderr=false", "-stderrthreshold=FATAL"}); err != nil {
		t.Fatal(err)
	}
	klog.SetOutput(&logged)
	klog.SetLogFilter(LogFilter{})
	t.Cleanup(func() { klog.SetLogFilter(nil) })
	long := strings.Repeat("x", 300000)
	address := &url.URL{Scheme: "https", Host: "kubernetes", Path: "/" + long}
	klog.Background().WithValues("URI", address.String()).Info("Waited before sending request", "delay", 1)
	klog.ErrorS(nil, "Timeout or abort while handling", "URI", address, "reason", errors.New(long))
	klog.Warningf("%s: %v", long, errors.New("a short one"))
	klog.Info(klog.KRef("namespace", long))
	klog.ErrorS(nil, "Cannot parse", "request", url.Values{long: {long, "a"}}, "raw", []byte(long), "list", []any{long}, "count", 7)
	klog.Flush()
	for _, part := range []string{"Waited before sending request", "Timeout or abort", "delay=1", "count=7", "a short one", "https://kubernetes/xxx"} {
		if !strings.Contains(logged.String(), part) {
			t.Errorf("%q is missing in %.2000s", part, logged.String())
		}
	}
	if logged.Len() > 10000 {
		t.Errorf("%d bytes were logged", logged.Len())
	}
}
