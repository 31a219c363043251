package observe

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// reasonsOf returns what a write changes of an object, in a few words each, nil if that is not known: of updates what
// differs from the stored object, and of patches what they set and remove of labels and annotations.
func (t *roundTripper) reasonsOf(request *http.Request) []string {
	body := bodyOf(request)
	switch request.Method {
	case http.MethodPatch:
		var patch struct {
			Metadata struct {
				Labels, Annotations map[string]*string
			}
		}
		if json.Unmarshal(body, &patch) != nil {
			return nil
		}
		return slices.Concat(patched("label", patch.Metadata.Labels), patched("annotation", patch.Metadata.Annotations))
	case http.MethodPut:
		wanted, err := decode(body)
		if err != nil {
			return nil
		}
		if stored, err := t.stored(request); err == nil {
			return differences(stored, wanted)
		}
	}
	return nil
}

func bodyOf(request *http.Request) []byte {
	if request.GetBody == nil {
		return nil
	}
	body, err := request.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = body.Close() }()
	content, err := io.ReadAll(body)
	if err != nil {
		return nil
	}
	return content
}

// decode reads an object as JSON, or of a built-in kind in protobuf.
func decode(content []byte) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(content, &object.Object); err == nil {
		return object, nil
	}
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(content, nil, nil)
	if err != nil {
		return nil, err
	}
	object.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(decoded)
	return object, err
}

// stored reads the object that a request writes.
func (t *roundTripper) stored(request *http.Request) (*unstructured.Unstructured, error) {
	read := request.Clone(request.Context())
	read.Method, read.Body, read.GetBody, read.ContentLength = http.MethodGet, http.NoBody, nil, 0
	read.URL.RawQuery = ""
	read.Header.Set("Accept", "application/json")
	read.Header.Del("Content-Type")
	response, err := t.next.RoundTrip(read)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", read.URL.Path, response.Status)
	}
	if err != nil {
		return nil, err
	}
	return decode(content)
}

// differences returns what differs between a stored object and the one that replaces it.
func differences(stored, wanted *unstructured.Unstructured) []string {
	reasons := slices.Concat(changes("label", stored.GetLabels(), wanted.GetLabels()), changes("annotation", stored.GetAnnotations(), wanted.GetAnnotations()))
	kept := sets.New(wanted.GetFinalizers()...)
	for _, finalizer := range stored.GetFinalizers() {
		if !kept.Has(finalizer) {
			reasons = append(reasons, "finalizer "+finalizer+" removed")
		}
	}
	if !apiequality.Semantic.DeepEqual(content(stored), content(wanted)) {
		reasons = append(reasons, "content replaced by that of the source")
	}
	return reasons
}

// content returns an object as JSON has it, without what the propagator does not copy.
func content(object *unstructured.Unstructured) map[string]any {
	copied := maps.Clone(object.Object)
	for _, field := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(copied, field)
	}
	encoded, err := json.Marshal(copied)
	if err != nil {
		return copied
	}
	var decoded map[string]any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		return copied
	}
	return decoded
}

func changes(what string, before, after map[string]string) (reasons []string) {
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[key]; !ok {
			reasons = append(reasons, what+" "+key+" removed")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if was, ok := before[key]; !ok || was != after[key] {
			reasons = append(reasons, what+" "+key+" set")
		}
	}
	return reasons
}

// patched returns what a patch sets and removes. Tree labels, of which each namespace has others, count as one.
func patched(what string, pairs map[string]*string) []string {
	reasons := sets.New[string]()
	for key, value := range pairs {
		action := " set"
		if value == nil {
			action = " removed"
		} else if strings.HasPrefix(key, "pod-security.kubernetes.io/") {
			action = "=" + *value + " set"
		}
		if _, ok := hnc.TreeLabelAncestor(key); ok {
			key = "of trees"
		}
		reasons.Insert(what + " " + key + action)
	}
	return sets.List(reasons)
}

// warningsIn returns the warnings of a response.
func warningsIn(response *http.Response) []string {
	var texts []string
	parsed, _ := utilnet.ParseWarningHeaders(response.Header.Values("Warning"))
	for _, w := range parsed {
		texts = append(texts, w.Text)
	}
	return texts
}
