package observe

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A write that is repeated counts once, and its last answer counts, unless an earlier one was positive: a dry run
// stores nothing, so that a controller may repeat a write for other reasons.
func TestRepeatedWrites(t *testing.T) {
	const write, rejected = "patch hierarchies.hnc.x-k8s.io/status: 1 (a/hierarchy)", "rejected: patch hierarchies.hnc.x-k8s.io/status a/hierarchy: "
	for _, test := range []struct {
		name    string
		answers []int
		want    []string
	}{
		{"accepted", []int{200, 200}, []string{write}},
		{"unavailable at first", []int{503, 503, 200}, []string{write}},
		{"unavailable later", []int{200, 503}, []string{write}},
		{"rejected", []int{403, 403}, []string{rejected + "403 Forbidden"}},
		{"too many requests", []int{429}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			answers := test.answers
			var dryRuns int
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("dryRun") == "All" {
					dryRuns++
				}
				w.WriteHeader(answers[0])
				answers = answers[1:]
			}))
			defer server.Close()
			report := newReport()
			client := &http.Client{Transport: report.wrap(http.DefaultTransport)}
			for range test.answers {
				url := server.URL + "/apis/hnc.x-k8s.io/v1beta1/namespaces/a/hierarchies/hierarchy/status"
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, url, strings.NewReader(`{"status":{}}`))
				if err != nil {
					t.Fatal(err)
				}
				response, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
			}
			if got := report.Lines(3); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if dryRuns != len(test.answers) {
				t.Errorf("%d of %d writes were dry runs", dryRuns, len(test.answers))
			}
		})
	}
}

// A name of an RBAC object may contain line breaks.
func TestNamesForgeNoLine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	report := newReport()
	client := &http.Client{Transport: report.wrap(http.DefaultTransport)}
	url := server.URL + "/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings/x%29%0Adelete%20namespaces:%2041%20%28b"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if got, want := report.Lines(3), []string{`delete rolebindings.rbac.authorization.k8s.io: 1 (a/x)\ndelete namespaces: 41 (b)`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
