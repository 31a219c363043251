package propagator

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// server is an API server in memory: it keeps any object, counts versions over all of them, refuses what is outdated, and plays the
// namespace controller. Its lock makes every request atomic.
type server struct {
	mu      sync.Mutex
	changed *sync.Cond
	version int
	objects map[location]*unstructured.Unstructured
	events  []event
	// trimmed is the version before which events are forgotten; epoch counts how often that happened.
	trimmed, epoch int
	// ended counts how often all watches were ended.
	ended int
	// writes are the requests that changed something, as "METHOD path".
	writes []string
	// refuse answers a request instead of the server, nil for none.
	refuse func(method, path string) *metav1.Status
}

// location is where an object is: "roles", "team-a", "dev".
type location struct{ resource, namespace, name string }

type event struct {
	version  int
	resource string
	kind     string
	body     []byte
}

func newServer() *server {
	s := &server{objects: map[location]*unstructured.Unstructured{}}
	s.changed = sync.NewCond(&s.mu)
	return s
}

var kinds = map[string]schema.GroupVersionKind{
	"namespaces":    {Version: "v1", Kind: "Namespace"},
	"hierarchies":   v1beta1.SchemeGroupVersion.WithKind("Hierarchy"),
	"subnamespaces": v1beta1.SchemeGroupVersion.WithKind("Subnamespace"),
	"roles":         rbacv1.SchemeGroupVersion.WithKind("Role"),
	"rolebindings":  rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),

	"hncconfigurations":         v1beta1.SchemeGroupVersion.WithKind("HNCConfiguration"),
	"customresourcedefinitions": {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	"apiservices":               {Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
	"configmaps":                {Version: "v1", Kind: "ConfigMap"},
	"secrets":                   {Version: "v1", Kind: "Secret"},
	"widgets":                   {Group: "example.com", Version: "v1", Kind: "Widget"},
	"gadgets":                   {Group: "example.com", Version: "v1", Kind: "Gadget"},
}

// locate splits /api/v1/namespaces/a, /apis/GROUP/VERSION/namespaces/a/roles/b/status and the like.
func locate(path string) (l location, status bool) {
	words := strings.Split(strings.Trim(path, "/"), "/")
	words = words[slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "v1") })+1:]
	if words[0] == "namespaces" && len(words) > 2 {
		l.namespace, words = words[1], words[2:]
	}
	l.resource = words[0]
	if len(words) > 1 {
		l.name = words[1]
	}
	return l, len(words) > 2
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l, status := locate(r.URL.Path)
	if r.URL.Query().Get("watch") != "" {
		s.watch(w, r, l.resource)
		return
	}
	body := fromWire(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := func(code int, object any) {
		encoded, _ := json.Marshal(object)
		contentType, encoded := toWire(r, encoded)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write(encoded)
	}
	var failure *metav1.Status
	if s.refuse != nil {
		failure = s.refuse(r.Method, r.URL.Path)
	}
	var object any
	if failure == nil {
		if r.Method == http.MethodGet && l.name == "" {
			_, parent, _ := strings.Cut(r.URL.Query().Get("fieldSelector"), "spec.parent=")
			answer(http.StatusOK, s.list(l, parent))
			return
		}
		if r.Method == http.MethodGet {
			if o := s.objects[l]; o != nil {
				answer(http.StatusOK, o.Object)
			} else {
				answer(http.StatusNotFound, notFound())
			}
			return
		}
		s.writes = append(s.writes, r.Method+" "+r.URL.Path)
		object, failure = s.write(r.Method, l, status, body)
	}
	if failure != nil {
		answer(int(failure.Code), failure)
		return
	}
	answer(http.StatusOK, object)
}

// list returns the objects in a namespace, or in all, and with the given spec.parent, or any.
func (s *server) list(in location, parent string) any {
	items := []any{}
	for l, o := range s.objects {
		named, _, _ := unstructured.NestedString(o.Object, "spec", "parent")
		if l.resource == in.resource && (in.namespace == "" || l.namespace == in.namespace) && (parent == "" || named == parent) {
			items = append(items, o.Object)
		}
	}
	kind := kinds[in.resource]
	return map[string]any{
		"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind + "List", "metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items,
	}
}

func failure(code int, reason metav1.StatusReason) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: string(reason),
	}
}

func notFound() *metav1.Status { return failure(http.StatusNotFound, metav1.StatusReasonNotFound) }

// store enters an object at the next version and tells the watchers.
// remove deletes an object, or marks it if it has finalizers or is a namespace with content.
// finish removes a terminating namespace that is empty.
func (s *server) watch(w http.ResponseWriter, r *http.Request, resource string) {
	if r.URL.Query().Get("sendInitialEvents") != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(failure(422, metav1.StatusReasonInvalid))
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	ctx := r.Context()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-ctx.Done():
		case <-stop:
		}
		s.changed.Broadcast()
	}()
	contentType, _ := frame(r, nil)
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	s.mu.Lock()
	epoch, ended := s.epoch, s.ended
	s.mu.Unlock()
	for sent := 0; ctx.Err() == nil; {
		var out bytes.Buffer
		s.mu.Lock()
		for sent == len(s.events) && ctx.Err() == nil && ended == s.ended && epoch == s.epoch && from >= s.trimmed {
			s.changed.Wait()
		}
		if ended != s.ended {
			s.mu.Unlock()
			return
		}
		if epoch != s.epoch || from < s.trimmed {
			body, _ := json.Marshal(map[string]any{"type": "ERROR", "object": failure(410, metav1.StatusReasonExpired)})
			_, body = frame(r, body)
			out.Write(body)
			s.mu.Unlock()
			_, _ = w.Write(out.Bytes())
			return
		}
		for ; sent < len(s.events); sent++ {
			if e := s.events[sent]; e.resource == resource && e.version > from {
				_, body := frame(r, e.body)
				out.Write(body)
			}
		}
		s.mu.Unlock()
		_, _ = w.Write(out.Bytes())
		w.(http.Flusher).Flush()
	}
}

// lose forgets all events, so that every watch has to start again from a list. The lock must be held.
