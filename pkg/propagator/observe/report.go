package observe

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Report counts writes: each object once for each verb. Its methods are safe for concurrent use.
type Report struct {
	mutex  sync.Mutex
	writes map[kind][]string
	// reasons are the objects of a kind of writes by what changes of them.
	reasons map[kind]map[string][]string
	// warnings are those of the API server, by object.
	warnings map[string][]string
	seen     map[string]bool
	errors   map[string]string
}

// kind is a kind of writes.
type kind struct{ verb, resource string }

func newReport() *Report {
	return &Report{
		writes: map[kind][]string{}, reasons: map[kind]map[string][]string{}, warnings: map[string][]string{}, seen: map[string]bool{}, errors: map[string]string{},
	}
}

// Lines describes the writes: for each verb and resource how many objects, the first of them, and what changes of them;
// and what the API server says about it. Namespaces that are created, or get labels of Pod Security, are all named.
// Names can't forge a line.
func (r *Report) Lines(examples int) []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var blocks [][]string
	for k, objects := range r.writes {
		named := examples
		if k == (kind{"create", "namespaces"}) {
			named = len(objects)
		}
		block := []string{fmt.Sprintf("%s %s: %s", k.verb, k.resource, counted(objects, named))}
		for _, reason := range slices.Sorted(maps.Keys(r.reasons[k])) {
			named := examples
			if strings.Contains(reason, "pod-security.kubernetes.io/") {
				named = len(objects)
			}
			block = append(block, "  "+reason+": "+counted(r.reasons[k][reason], named))
		}
		blocks = append(blocks, block)
	}
	slices.SortFunc(blocks, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	lines := slices.Concat(blocks...)
	for _, object := range slices.Sorted(maps.Keys(r.warnings)) {
		for _, text := range r.warnings[object] {
			lines = append(lines, "warning: "+object+": "+text)
		}
	}
	for _, object := range slices.Sorted(maps.Keys(r.errors)) {
		lines = append(lines, fmt.Sprintf("rejected: %s: %s", object, r.errors[object]))
	}
	for i := range lines {
		lines[i] = names.Printable(lines[i])
	}
	return lines
}

// counted returns how many objects there are, and the first of them.
func counted(objects []string, named int) string {
	slices.Sort(objects)
	more := ""
	if len(objects) > named {
		more = ", ..."
	}
	return fmt.Sprintf("%d (%s%s)", len(objects), strings.Join(objects[:min(named, len(objects))], ", "), more)
}

func (r *Report) wrap(next http.RoundTripper) http.RoundTripper {
	resolver := &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	return &roundTripper{report: r, next: next, resolver: resolver}
}

// roundTripper makes every write a dry run, and records it.
type roundTripper struct {
	report   *Report
	next     http.RoundTripper
	resolver apirequest.RequestInfoResolver
}

func (t *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return t.next.RoundTrip(request)
	}
	info, err := t.resolver.NewRequestInfo(request)
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	query := request.URL.Query()
	query.Set("dryRun", "All")
	request.URL.RawQuery = query.Encode()
	if request.Method == http.MethodDelete {
		// The API server ignores the query of a deletion with a body.
		if err := replaceBody(request, `{"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"]}`); err != nil {
			return nil, err
		}
	}
	reasons := t.reasonsOf(request)
	response, err := t.next.RoundTrip(request)
	if err == nil {
		t.report.add(info, request, response, reasons)
	}
	return response, err
}

func replaceBody(request *http.Request, body string) error {
	if request.Body != nil {
		if err := request.Body.Close(); err != nil {
			return err
		}
	}
	request.Body, request.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	request.Header.Set("Content-Type", "application/json")
	return nil
}

// add records a write that the API server has accepted, or rejected. A rejected one that is accepted when it is
// repeated, such as one that an overloaded server did not answer, counts as accepted.
func (r *Report) add(info *apirequest.RequestInfo, request *http.Request, response *http.Response, reasons []string) {
	if strings.HasSuffix(info.APIGroup, "authorization.k8s.io") && strings.HasSuffix(info.Resource, "reviews") {
		return
	}
	resource := info.Resource
	if info.APIGroup != "" {
		resource += "." + info.APIGroup
	}
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	name := info.Name
	if name == "" {
		name = nameIn(request)
	}
	object := name
	if info.Namespace != "" && info.Resource != "namespaces" {
		object = info.Namespace + "/" + name
	}
	key := info.Verb + " " + resource + " " + object
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusConflict || response.StatusCode == http.StatusTooManyRequests:
		// What would have been created before does not exist, or the request is repeated.
	case response.StatusCode >= 400:
		if !r.seen[key] {
			r.errors[key] = response.Status
		}
	case !r.seen[key]:
		r.seen[key] = true
		delete(r.errors, key)
		k := kind{info.Verb, resource}
		r.writes[k] = append(r.writes[k], object)
		for _, reason := range reasons {
			if r.reasons[k] == nil {
				r.reasons[k] = map[string][]string{}
			}
			r.reasons[k][reason] = append(r.reasons[k][reason], object)
		}
		if texts := warningsIn(response); len(texts) > 0 {
			r.warnings[resource+" "+object] = texts
		}
	}
}

// nameIn returns the name in a creation's body; if it cannot be decoded its digest, to distinguish creations.
func nameIn(request *http.Request) string {
	content := bodyOf(request)
	if content == nil {
		return ""
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(content, &object); err == nil && object.Name != "" {
		return object.Name
	}
	if decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(content, nil, nil); err == nil {
		if object, err := meta.Accessor(decoded); err == nil {
			return object.GetName()
		}
	}
	return fmt.Sprintf("%.4x", sha256.Sum256(content))
}
