package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestDryRunResumesNothing(t *testing.T) {
	var writes []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = &v1beta1.HNCConfiguration{
			TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "HNCConfiguration"},
			Status:   v1beta1.HNCConfigurationStatus{Conditions: []metav1.Condition{{Type: hnc.ConditionPropagationPaused, Status: metav1.ConditionTrue}}},
		}
		if r.Method != http.MethodGet {
			writes = append(writes, r.Method+" "+r.URL.String())
			answer = &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	for name, test := range map[string]struct {
		flags  []string
		writes []string
		out    string
	}{
		"client":  {[]string{"--dry-run=client"}, nil, "The propagation resumes; namespaces overwrite what differs (dry run)\n"},
		"server":  {[]string{"--dry-run=server"}, []string{"PATCH /api/v1/namespaces/hns-system?dryRun=All"}, "The propagation resumes; namespaces overwrite what differs (server dry run)\n"},
		"in fact": {[]string{"--yes"}, []string{"PATCH /api/v1/namespaces/hns-system"}, "The propagation resumes; namespaces overwrite what differs\n"},
	} {
		t.Run(name, func(t *testing.T) {
			writes = nil
			var out strings.Builder
			// Without an answer, a question would be an error.
			streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: io.Discard}
			root := NewRoot(NewFactory(io.Discard), streams, "", NewCommand)
			root.SetArgs(append([]string{"resume", "--trust=namespaces", "--kubeconfig", "", "-s", server.URL}, test.flags...))
			if err := root.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(writes, test.writes) || out.String() != test.out {
				t.Errorf("got %v and %q, want %v and %q", writes, out.String(), test.writes, test.out)
			}
		})
	}
}
