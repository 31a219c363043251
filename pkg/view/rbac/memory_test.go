package rbac

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// pieces are read one by one, and before each of them a function is called.
type pieces struct {
	texts  []string
	before func(left int)
}

func (p *pieces) Read(b []byte) (int, error) {
	p.before(len(p.texts))
	if len(p.texts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.texts[0])
	if p.texts[0] = p.texts[0][n:]; p.texts[0] == "" {
		p.texts = p.texts[1:]
	}
	return n, nil
}

// A client may read the rest of a list as slowly as it likes.
func TestListsDoNotKeepTheBufferOfTheLargestItem(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	large := strings.Repeat("x", 8<<20)
	role := func(name, label string) string {
		return `{"metadata":{"name":"` + name + `","labels":{"a":"` + label + `"}}}`
	}
	for name, test := range map[string]struct{ before, item, hidden, after, want string }{
		"a list": {`{"kind":"RoleList","items":[`, role("view:acme:x", large), role("y", large), role("view:acme:z", "") + `],"metadata":{"resourceVersion":"1"}}`,
			`,{"metadata":{"name":"z","labels":{"a":""}}}],"metadata":{"resourceVersion":"1"}}`},
		"a table": {`{"kind":"Table","rows":[`, `{"cells":["view:acme:x"],"object":` + role("view:acme:x", large) + `}`, `{"cells":["y"],"object":` + role("y", large) + `}`,
			`{"cells":["view:acme:z"],"object":` + role("view:acme:z", "") + `}]}`, `,{"cells":["z"],"object":{"metadata":{"name":"z","labels":{"a":""}}}}]}`},
		"a watch": {"", `{"type":"ADDED","object":` + role("view:acme:x", large) + `}`, `{"type":"ADDED","object":` + role("y", large) + `}`,
			`{"type":"ADDED","object":` + role("view:acme:z", "") + `}`, "\n" + `{"type":"ADDED","object":{"metadata":{"name":"z","labels":{"a":""}}}}`},
	} {
		separator, verb := ",", "list"
		if name == "a watch" {
			separator, verb = "\n", "watch"
		}
		before, after := heap(), int64(0)
		upstream := roundTrip(func(*http.Request) (*http.Response, error) {
			got := response(http.StatusOK, "")
			got.Body = io.NopCloser(&pieces{[]string{test.before, test.item, separator, test.hidden, separator, test.after}, func(left int) {
				if left == 1 {
					after = max(after, heap())
				}
			}})
			return got, nil
		})
		r, _ := http.NewRequest(http.MethodGet, "https://cluster/", nil)
		got, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: verb, Scopes: scopes, Reserve: uncountedBytes}, upstream).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		var end tail
		if _, err := io.Copy(&end, got.Body); err != nil || !strings.HasSuffix(strings.TrimSpace(string(end.last)), test.want) || end.bytes < len(large) || end.bytes > 2*len(large) {
			t.Errorf("%s: %v; %d bytes, which end with %s", name, err, end.bytes, end.last)
		}
		if kept := after - before; kept > 4<<20 {
			t.Errorf("%s: %d bytes are kept", name, kept)
		}
	}
}

// tail is the end of what is written.
type tail struct {
	bytes int
	last  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.bytes += len(b)
	t.last = append(t.last, b[max(0, len(b)-200):]...)
	t.last = t.last[max(0, len(t.last)-200):]
	return len(b), nil
}

// What is decoded and encoded again takes many times the size of the text that the client sends.
func TestBodiesAreCountedUntilTheyAreSent(t *testing.T) {
	rules := `{"metadata":{"name":"x"},"rules":[` + strings.Repeat(`{"verbs":["get"]},`, 4000) + `{}]}`
	subjects := `"subjects":[` + strings.Repeat(`{"kind":"User","name":"u"},`, 4000) + `{}]`
	for _, test := range []struct{ resource, verb, contentType, body string }{
		{ClusterRoles, "create", "application/json", rules},
		{ClusterRoles, "create", "application/yaml", "metadata: {name: x}\nrules:\n" + strings.Repeat("- verbs: [get]\n", 4000)},
		{ClusterRoles, "update", "application/json", rules},
		{ClusterRoles, "patch", "application/apply-patch+yaml", rules},
		{ClusterRoles, "patch", "application/merge-patch+json", rules},
		{roleBindings, "create", "application/json", `{"metadata":{"name":"x"},"roleRef":{"kind":"ClusterRole","name":"x"},` + subjects + "}"},
		{roleBindings, "patch", "application/merge-patch+json", "{" + subjects + "}"},
		{roleBindings, "patch", "application/json-patch+json", "[" + strings.Repeat(`{"path":"/a"},`, 4000) + `{"path":"/a"}]`},
	} {
		var most, counted int64
		reserve := func(bytes int64) (func(), error) {
			counted += bytes
			most = max(most, counted)
			return func() { counted -= bytes }, nil
		}
		sent := 0
		upstream := roundTrip(func(r *http.Request) (*http.Response, error) {
			if sent++; counted < 4000*ValueSize {
				t.Errorf("%s of %s as %s: %d bytes are counted while it is sent", test.verb, test.resource, test.contentType, counted)
			}
			return response(http.StatusOK, `{"kind":"Role","metadata":{"name":"view:acme:x","resourceVersion":"1"}}`), nil
		})
		send := func(reserve func(int64) (func(), error)) error {
			r, _ := http.NewRequest(http.MethodPost, "https://cluster/", strings.NewReader(test.body))
			r.Header.Set("Content-Type", test.contentType)
			if test.verb == "patch" {
				r.Method = http.MethodPatch
			}
			_, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: test.resource, Verb: test.verb, Scopes: scopes, Reserve: uncountedBytes, ReserveCurrent: uncountedBytes, ReserveBody: reserve}, upstream).RoundTrip(r)
			return err
		}
		if err := send(reserve); err != nil || sent == 0 || counted != 0 {
			t.Errorf("%s of %s as %s: %v; %d requests are sent, and %d bytes are still counted", test.verb, test.resource, test.contentType, err, sent, counted)
		}
		sent = 0
		refuse := func(int64) (func(), error) { return nil, apierrors.NewTooManyRequests("later", 1) }
		if err := send(refuse); !apierrors.IsTooManyRequests(err) || sent > 0 {
			t.Errorf("%s of %s as %s without memory: %v; %d requests are sent", test.verb, test.resource, test.contentType, err, sent)
		}
	}
}
