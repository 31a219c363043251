package migrate

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// plugin runs kubectl hns with a kubeconfig, and returns what it prints. If killAt is not empty, it is killed when
// this step has begun and the second request is sent from then on.
func plugin(t *testing.T, killAt string, args ...string) (string, error) {
	t.Helper()
	if killAt == "" {
		return watched(t, nil, args...)
	}
	requests := 0
	return watched(t, func(step string) bool {
		if requests > 0 || step == killAt {
			requests++
		}
		return requests < 2
	}, args...)
}

// watched runs kubectl hns. Unless it is nil, forward is called for each request, with the step that has begun: if it
// returns false, the process is killed and the request gets no answer.
func watched(t *testing.T, forward func(step string) bool, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(binDir, "kubectl-hns"), args...)
	if i := slices.Index(args, limited); i >= 0 {
		args = append(slices.Clone(args[:i]), args[i+1:]...)
		cmd = exec.CommandContext(t.Context(), "bash", append([]string{"-c", `ulimit -f 100 && exec "$0" "$@"`, filepath.Join(binDir, "kubectl-hns")}, args...)...)
	}
	kubeconfig := cp.Kubeconfig()
	out := &output{file: filepath.Join(t.TempDir(), "stdout")}
	if forward != nil {
		kubeconfig = proxied(t, func() bool {
			forwarded := forward(out.step())
			if !forwarded {
				_ = cmd.Process.Kill()
			}
			return forwarded
		})
	}
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir())
	stdout, err := os.Create(out.file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdout.Close() }()
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%v: %w: %s", args, err, stderr.String())
	}
	if strings.Contains(stderr.String(), "Warning: ") {
		t.Errorf("%v prints warnings of servers, whose effects the migration does not have: %s", args, stderr.String())
	}
	return out.read(), err
}

// proxied returns a kubeconfig of a proxy, whose requests are the admin's. A request that is not forwarded gets no
// answer.
func proxied(t *testing.T, forward func() bool) string {
	t.Helper()
	target, err := url.Parse(admin.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(admin.Config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport, ErrorLog: log.New(io.Discard, "", 0),
	}
	var one sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		forwarded := forward()
		one.Unlock()
		if !forwarded {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// output is the file that a process writes its standard output to: what it has printed can be read at any time.
type output struct{ file string }

func (o *output) read() string {
	content, _ := os.ReadFile(o.file)
	return string(content)
}

// step returns the last step that has begun, "" if none has.
func (o *output) step() string {
	last := ""
	for line := range strings.Lines(o.read()) {
		if step := stepOf(line); step != "" {
			last = step
		}
	}
	return last
}

// limited, as an argument, is none: the plugin can write 100 KiB to a file, as on a full disk.
const limited = "(limited)"

// stepOf returns the step whose beginning a line shows, "" for any other line.
func stepOf(line string) string {
	fields := strings.Fields(line)
	if len(fields) < 2 || !strings.Contains(fields[0], "/") {
		return ""
	}
	return fields[1]
}
