package deepjson

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// object has as many levels as a decoder accepts, or a few.
func object(name string, levels int) string {
	return fmt.Sprintf(`{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":%q,"resourceVersion":"7"},"spec":%s1%s}`,
		name, strings.Repeat("[", levels-1), strings.Repeat("]", levels-1))
}

const deepest = 10_000

// One object of the greatest depth hides no others.
func TestDeepObjectsAreListedAndWatched(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			_, _ = fmt.Fprintf(w, `{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"9","continue":"more"},"items":[%s,%s,{"metadata":{"name":"typed"}}]}`,
				object("deep", deepest), object("flat", 2))
			return
		}
		for _, o := range []string{object("deep", deepest), object("flat", 2)} {
			_, _ = fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", o)
		}
		_, _ = w.Write([]byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired"}}` + "\n"))
	}))
	defer server.Close()
	client, err := NewDynamic(&rest.Config{Host: server.URL}, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	list, err := widgets.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 3 || list.Items[2].GetKind() != "Widget" || list.Items[2].GetAPIVersion() != "example.com/v1" || list.Items[2].GetName() != "typed" || list.Items[0].GetName() != "deep" || list.Items[1].GetName() != "flat" ||
		list.GetResourceVersion() != "9" || list.GetContinue() != "more" || list.GetKind() != "WidgetList" {
		t.Errorf("got %d items, %v", len(list.Items), list.Object)
	}
	watched, err := widgets.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	for _, want := range []string{"ADDED deep", "ADDED flat", "ERROR "} {
		select {
		case event, ok := <-watched.ResultChan():
			name := ""
			if u, known := event.Object.(*unstructured.Unstructured); known {
				name = u.GetName()
			}
			if got := fmt.Sprint(event.Type, " ", name); !ok || got != want {
				t.Fatalf("got %q (%T), want %q", got, event.Object, want)
			}
		case <-time.After(time.Minute):
			t.Fatal("no event")
		}
	}
	if _, ok := <-watched.ResultChan(); ok {
		t.Error("events after the last one")
	}
}

// overDeep is an object whose managed fields alone have as many levels as a decoder accepts.
var overDeep = fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"deep","managedFields":[{"fieldsV1":%s{}%s}],"uid":"u"},"data":{"managedFields":"own"}}`,
	strings.Repeat(`{"f:a":`, deepest-1), strings.Repeat("}", deepest-1))

// Only protobuf has a text that is decoded separately, so JSON cannot write such an object.
func TestObjectsAreReadWithoutManagedFieldsThatAreTooDeep(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Query().Get("watch") != "":
			_, _ = fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", overDeep)
		case strings.HasSuffix(r.URL.Path, "/deep"):
			_, _ = w.Write([]byte(overDeep))
		default:
			_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"flat"}},%s]}`, overDeep)
		}
	}))
	defer server.Close()
	client, err := NewDynamic(&rest.Config{Host: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("a")
	check := func(what string, o any, err error) {
		t.Helper()
		u, ok := o.(*unstructured.Unstructured)
		if err != nil || !ok || u.GetName() != "deep" || u.GetUID() != "u" || u.GetManagedFields() != nil || !reflect.DeepEqual(u.Object["data"], map[string]any{"managedFields": "own"}) {
			t.Errorf("%s: got %v, %v", what, o, err)
		}
	}
	got, err := maps.Get(t.Context(), "deep", metav1.GetOptions{})
	check("get", got, err)
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("got %v, %v", list, err)
	}
	check("list", &list.Items[1], nil)
	watched, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	event := <-watched.ResultChan()
	check("watch", event.Object, nil)
	var o unstructured.Unstructured
	err = Unmarshal([]byte(overDeep), &o.Object)
	check("unmarshal", &o, err)

	table := fmt.Sprintf(`{"kind":"Table","rows":[{"cells":["deep"],"object":%s}]}`, overDeep)
	read, err := ReadList([]byte(table))
	if err != nil || len(read.Rows) != 1 || !json.Valid(read.Rows[0]) || !strings.Contains(string(read.Rows[0]), `"cells":["deep"]`) {
		t.Errorf("got %v, %v", read, err)
	}
	for object, valid := range map[string]bool{table: true, strings.Replace(table, "Table", "Timetable", 1): false} {
		if eventType, o, err := Event([]byte(`{"type":"ADDED","object":` + object + "}\n")); (err == nil) != valid || valid && (eventType != "ADDED" || !json.Valid(o)) {
			t.Errorf("got %q, %v", eventType, err)
		}
	}
}

func TestTemplatesAreReadWithoutManagedFieldsThatAreTooDeep(t *testing.T) {
	for kind, content := range map[string]string{
		"Deployment":            `"spec":{"template":{%s}}`,
		"StatefulSet":           `"spec":{"volumeClaimTemplates":[{},{%s}]}`,
		"CronJob":               `"spec":{"jobTemplate":{"spec":{"template":{%s}}}}`,
		"CronJob's Job":         `"spec":{"jobTemplate":{%s}}`,
		"PodTemplate":           `"template":{%s}`,
		"ResourceClaimTemplate": `"spec":{%s}`,
	} {
		metadata := fmt.Sprintf(`"metadata":{"name":"inner","managedFields":[{"fieldsV1":%s{}%s}]}`, strings.Repeat(`{"f:a":`, deepest-1), strings.Repeat("}", deepest-1))
		o := `{"metadata":{"name":"deep"},` + fmt.Sprintf(content, metadata) + `}`
		var read map[string]any
		if err := Unmarshal([]byte(o), &read); err != nil || !strings.Contains(fmt.Sprint(read), "name:inner") {
			t.Errorf("%s: got %v, %v", kind, read, err)
		}
		if list, err := ReadList([]byte(`{"items":[{},` + o + `]}`)); err != nil || len(list.Items) != 2 || !json.Valid(list.Items[1]) {
			t.Errorf("%s: got %v, %v", kind, list, err)
		}
		if _, event, err := Event([]byte(`{"type":"ADDED","object":` + o + "}\n")); err != nil || !json.Valid(event) {
			t.Errorf("%s: got %s, %v", kind, event, err)
		}
	}
}

func TestMalformedTexts(t *testing.T) {
	for _, text := range []string{"", "{", `{"items":`, `{"items":{}}`, `{"items":[}`, `{"items":[{]}`, `[]`, `{"items":[1]}`} {
		if _, _, err := (objects{}).Decode([]byte(text), nil, &unstructured.UnstructuredList{}); err == nil {
			t.Errorf("%q is a list", text)
		}
	}
	for _, text := range []string{`{"metadata":{}}garbage`, `{"metadata":{"managedFields":]}}`} {
		if err := Unmarshal([]byte(text), &map[string]any{}); err == nil {
			t.Errorf("%q is an object", text)
		}
	}
	for _, text := range []string{"", "{", `{"type":1}`, `[]`, `{"object":`} {
		if _, _, err := Event([]byte(text)); err == nil {
			t.Errorf("%q is an event", text)
		}
	}
	if eventType, o, err := Event([]byte(`{"object":{"a":1},"other":[],"type":"ADDED"}`)); err != nil || eventType != "ADDED" || !json.Valid(o) {
		t.Errorf("got %q %s %v", eventType, o, err)
	}
}
