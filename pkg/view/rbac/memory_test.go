package rbac

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
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
