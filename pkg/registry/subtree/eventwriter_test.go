package subtree

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWatchEndsAtAnEventThatCannotBeSent has tables that cannot be decoded. A later event or bookmark would tell the
// caller that it has missed nothing.
func TestWatchEndsAtAnEventThatCannotBeSent(t *testing.T) {
	for name, object := range map[string]string{"a table": `{"rows":1}`, "a row": `{"rows":[{"cells":1}]}`} {
		q := &request{reader: reader{query: map[string][]string{"includeObject": {"None"}}, memory: testMemory().share("ann", "a")}}
		q.reader.output.table = "meta.k8s.io/v1"
		recorder := httptest.NewRecorder()
		out := newEventWriter(recorder, q)
		good := rawEvent{Type: "ADDED", Object: []byte(`{"columnDefinitions":[{"name":"Name","format":"name"}],"rows":[{"cells":["a"]}]}`)}
		out.forward(good)
		if out.err != nil {
			t.Fatal(out.err)
		}
		out.forward(rawEvent{Type: "MODIFIED", Object: []byte(object)})
		out.forward(good)
		out.writeBookmark("7", nil)
		lines := strings.Split(strings.TrimSpace(recorder.Body.String()), "\n")
		if out.err == nil || len(lines) != 2 || !strings.Contains(lines[1], `"ERROR"`) || !strings.Contains(lines[1], `"code":410`) {
			t.Errorf("%s: %v, got\n%s", name, out.err, recorder.Body)
		}
	}
}
