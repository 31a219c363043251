package migration

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestCompareClocks(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		header string
		ok     bool
	}{
		"equal":     {now.UTC().Format(http.TimeFormat), true},
		"close":     {now.Add(-4 * time.Minute).UTC().Format(http.TimeFormat), true},
		"ahead":     {now.Add(-6 * time.Minute).UTC().Format(http.TimeFormat), false},
		"behind":    {now.Add(6 * time.Minute).UTC().Format(http.TimeFormat), false},
		"not known": {"", true},
	} {
		if err := compareClocks(now, test.header); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A failed write leaves nothing.
func TestExportIsCompleteOrMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "export.yaml")
	if err := writeFile(path, []byte("complete")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others can read the export", info, err)
	}
	// The name is that of a directory, so that the last part of the write fails.
	blocked := filepath.Join(dir, "blocked")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(blocked, []byte("x")); err == nil || !strings.Contains(err.Error(), "make room, or choose another file") {
		t.Errorf("got %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("a failed write has left something: %v, %v", entries, err)
	}
}

// The migration stops the HNC that runs in its namespace, and a rollback starts it again.
func TestHNCRunsInItsNamespace(t *testing.T) {
	webhooks := func(namespace string) *unstructured.Unstructured {
		o := object("ValidatingWebhookConfiguration", "", validatingWebhooks, nil)
		o.SetAPIVersion(validatingResource.GroupVersion().String())
		client := map[string]any{"url": "https://hnc.example.com"}
		if namespace != "" {
			client = map[string]any{"service": map[string]any{"namespace": namespace, "port": int64(443)}}
		}
		o.Object["webhooks"] = []any{map[string]any{"clientConfig": client}}
		return o
	}
	for name, test := range map[string]struct {
		replicas map[string]int32
		webhooks string
		want     string
	}{
		"both":                     {map[string]int32{controllers[0]: 1, controllers[1]: 3}, hnc.HNCNamespace, ""},
		"its webhooks only":        {map[string]int32{controllers[0]: 0, controllers[1]: 3}, hnc.HNCNamespace, ""},
		"webhooks of a URL":        {map[string]int32{controllers[0]: 1}, "", ""},
		"stopped":                  {map[string]int32{controllers[0]: 0, controllers[1]: 0}, hnc.HNCNamespace, "scale the Deployment to one replica"},
		"without a Deployment":     {nil, hnc.HNCNamespace, "HNC does not run in namespace hnc-system"},
		"only its server of lists": {map[string]int32{listDeployment: 1}, hnc.HNCNamespace, "HNC does not run in namespace hnc-system"},
		"in another namespace":     {map[string]int32{controllers[0]: 1}, "hnc", `lead to namespace "hnc", so that HNC runs there`},
	} {
		c := fakeClients(t, webhooks(test.webhooks))
		withReplicas(c, test.replicas)
		err := c.checkHNC(t.Context())
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
