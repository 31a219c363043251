package cli

import (
	"encoding/json"
	"fmt"
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

// pausedServer returns a server that has paused the propagation.
func pausedServer(t *testing.T, namespaces []metav1.PartialObjectMetadata, hierarchies []v1beta1.Hierarchy, write func(*http.Request)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		switch {
		case r.Method != http.MethodGet:
			write(r)
			answer = &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
		case strings.HasSuffix(r.URL.Path, "/namespaces"):
			answer = &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}, Items: namespaces}
		case strings.HasSuffix(r.URL.Path, "/hierarchies"):
			answer = &v1beta1.HierarchyList{TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "HierarchyList"}, Items: hierarchies}
		default:
			answer = &v1beta1.HNCConfiguration{
				TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "HNCConfiguration"},
				Status:   v1beta1.HNCConfigurationStatus{Conditions: []metav1.Condition{{Type: hnc.ConditionPropagationPaused, Status: metav1.ConditionTrue}}},
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestDryRunResumesNothing(t *testing.T) {
	var writes []string
	server := pausedServer(t, nil, nil, func(r *http.Request) { writes = append(writes, r.Method+" "+r.URL.String()) })
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

// An administrator confirms what is listed. Namespaces may be restored by others than cluster administrators, with any
// tree labels.
func TestAllParentsThatLabelsChangeAreListed(t *testing.T) {
	namespace := func(name string, annotations map[string]string, chain ...string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations, Labels: hnc.TreeLabels(append([]string{name}, chain...))}}
	}
	hierarchy := func(namespace, parent string) v1beta1.Hierarchy {
		return v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: namespace}, Spec: v1beta1.HierarchySpec{Parent: parent}}
	}
	namespaces := []metav1.PartialObjectMetadata{
		namespace("root", nil), namespace("same", nil, "root"), namespace("leaves", nil), namespace("moves", nil, "root"), namespace("orphan", nil),
		namespace("external", map[string]string{hnc.AnnotationManagedBy: "other"}, "root"), namespace("taken", map[string]string{hnc.AnnotationManagedBy: "other"}, "root"),
	}
	hierarchies := []v1beta1.Hierarchy{hierarchy("same", "root"), hierarchy("leaves", "root"), hierarchy("moves", "same"), hierarchy("orphan", "missing"), hierarchy("taken", "root")}
	want := "namespace leaves: no parent by its labels, parent root by its hierarchy\nnamespace moves: parent root by its labels, parent same by its hierarchy\n" +
		"namespace taken: no parent by its labels, parent root by its hierarchy\n"
	for i := range 100 {
		joins := fmt.Sprintf("z-%03d", i)
		namespaces = append(namespaces, namespace(joins, nil, "same", "root"))
		want += "namespace " + joins + ": parent same by its labels, no parent by its hierarchy\n"
	}
	server := pausedServer(t, namespaces, hierarchies, func(r *http.Request) { t.Errorf("%s %s", r.Method, r.URL) })
	for trust, listed := range map[string]string{"namespaces": want, "hierarchies": ""} {
		var asked strings.Builder
		streams := genericiooptions.IOStreams{In: strings.NewReader("no\n"), Out: io.Discard, ErrOut: &asked}
		root := NewRoot(NewFactory(io.Discard), streams, "", NewCommand)
		root.SetArgs([]string{"resume", "--trust=" + trust, "--kubeconfig", "", "-s", server.URL})
		if err := root.ExecuteContext(t.Context()); err == nil {
			t.Error("it was not confirmed")
		}
		if !strings.HasPrefix(asked.String(), listed+"The "+trust+" overwrite") {
			t.Errorf("--trust=%s: got %s", trust, asked.String())
		}
	}
}
