package propagator

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func (s *server) write(method string, l location, status bool, body []byte) (any, *metav1.Status) {
	old := s.objects[l]
	o := &unstructured.Unstructured{}
	switch method {
	case http.MethodPost:
		_ = json.Unmarshal(body, &o.Object)
		l.name = o.GetName()
		if ns := s.objects[location{resource: "namespaces", name: l.namespace}]; l.namespace != "" && ns == nil {
			return nil, failure(404, metav1.StatusReasonNotFound)
		} else if l.namespace != "" && ns.GetDeletionTimestamp() != nil {
			return nil, failure(403, metav1.StatusReasonForbidden)
		}
		if s.objects[l] != nil {
			return nil, failure(409, metav1.StatusReasonAlreadyExists)
		}
		o.SetNamespace(l.namespace)
		o.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
		o.SetGeneration(1)
		s.store("ADDED", l, o)
		return o.Object, nil
	case http.MethodPut:
		_ = json.Unmarshal(body, &o.Object)
		o.SetNamespace(l.namespace)
	case http.MethodPatch:
		if old == nil {
			return nil, failure(404, metav1.StatusReasonNotFound)
		}
		before, _ := json.Marshal(old.Object)
		after, err := jsonpatch.MergePatch(before, body)
		if err != nil {
			return nil, failure(400, metav1.StatusReasonBadRequest)
		}
		_ = json.Unmarshal(after, &o.Object)
	case http.MethodDelete:
		var options metav1.DeleteOptions
		_ = json.Unmarshal(body, &options)
		if old == nil {
			return nil, failure(404, metav1.StatusReasonNotFound)
		}
		if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != old.GetUID() {
			return nil, failure(409, metav1.StatusReasonConflict)
		}
		s.remove(l)
		return metav1.Status{Status: metav1.StatusSuccess}, nil
	}
	if old == nil {
		return nil, failure(404, metav1.StatusReasonNotFound)
	}
	if o.GetUID() != old.GetUID() || (o.GetResourceVersion() != "" && o.GetResourceVersion() != old.GetResourceVersion()) {
		return nil, failure(409, metav1.StatusReasonConflict)
	}
	if !status && l.resource == "rolebindings" && fmt.Sprint(o.Object["roleRef"]) != fmt.Sprint(old.Object["roleRef"]) {
		return nil, failure(422, metav1.StatusReasonInvalid)
	}
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 && l.resource != "namespaces" {
		s.store("DELETED", l, o)
		s.finish(l.namespace)
		return o.Object, nil
	}
	if before, after := fmt.Sprint(old.Object), fmt.Sprint(o.Object); before == after {
		return o.Object, nil
	}
	s.store("MODIFIED", l, o)
	return o.Object, nil
}

func (s *server) store(kind string, l location, o *unstructured.Unstructured) {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	if kind == "DELETED" {
		delete(s.objects, l)
	} else {
		s.objects[l] = o
	}
	body, _ := json.Marshal(map[string]any{"type": kind, "object": o.Object})
	s.events = append(s.events, event{s.version, l.resource, kind, body})
	s.changed.Broadcast()
}

func (s *server) remove(l location) {
	o := s.objects[l].DeepCopy()
	if len(o.GetFinalizers()) == 0 && l.resource != "namespaces" {
		s.store("DELETED", l, o)
		return
	}
	if o.GetDeletionTimestamp() == nil {
		now := metav1.Now()
		o.SetDeletionTimestamp(&now)
		s.store("MODIFIED", l, o)
	}
	if l.resource == "namespaces" {
		content := slices.DeleteFunc(slices.Collect(maps.Keys(s.objects)), func(c location) bool { return c.namespace != l.name })
		for _, c := range content {
			s.remove(c)
		}
		s.finish(l.name)
	}
}

func (s *server) finish(namespace string) {
	l := location{resource: "namespaces", name: namespace}
	o := s.objects[l]
	if o == nil || o.GetDeletionTimestamp() == nil {
		return
	}
	for c := range s.objects {
		if c.namespace == namespace {
			return
		}
	}
	s.store("DELETED", l, o.DeepCopy())
}

func (s *server) lose() {
	s.version++
	s.trimmed = s.version
	s.epoch++
	s.events = nil
	s.changed.Broadcast()
}
