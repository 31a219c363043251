package subtree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	asTable    = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json"
	asMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	prefix     = "/apis/resources.hnc.x-k8s.io/v1alpha2"
)

// get returns what a path answers, as it is.
func (u user) get(t *testing.T, path, accept string) string {
	t.Helper()
	raw, err := u.CoreV1().RESTClient().Get().RequestURI(path).SetHeader("Accept", accept).Do(t.Context()).Raw()
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func TestTablesAndMetadata(t *testing.T) {
	root, mid, leaf := tree(t, "forms")
	for _, ns := range []string{root, mid, leaf} {
		secret(t, ns, "a")
	}
	reader := person(t, "forms")
	reader.grantAll(t, ask, "list watch secrets")
	suite.EventuallyEqual(t, "list", "forms-leaf/a forms-mid/a forms-root/a", func() string { return reader.listed(t, "secrets", root, marked) })
	path := prefix + "/namespaces/forms-root/secrets?labelSelector=test"

	for _, include := range []string{"", "None", "Metadata", "Object"} {
		t.Run("Table with "+include, func(t *testing.T) {
			text := reader.get(t, path+"&includeObject="+include, asTable)
			var table metav1.Table
			must(t, text, json.Unmarshal([]byte(text), &table))
			if table.Kind != "Table" || len(table.Rows) != 3 || table.ColumnDefinitions[0].Name != "Name" || table.Rows[2].Cells[0] != "a" || table.ResourceVersion == "" {
				t.Errorf("%s, want a table of three rows at a revision", text)
			}
			if got, want := strings.Contains(text, "forms-mid"), include != "None"; got != want {
				t.Errorf("objects are in it: %t, want %t: %s", got, want, text)
			}
			if got, want := strings.Contains(text, `"data"`), include == "Object"; got != want {
				t.Errorf("whole objects are in it: %t, want %t: %s", got, want, text)
			}
		})
	}
	text := reader.get(t, path+"x", asTable)
	var table metav1.Table
	must(t, text, json.Unmarshal([]byte(text), &table))
	if table.Kind != "Table" || len(table.Rows) != 0 || len(table.ColumnDefinitions) == 0 {
		t.Errorf("%s, want an empty table with columns", text)
	}
	var list metav1.PartialObjectMetadataList
	text = reader.get(t, path, asMetadata)
	must(t, text, json.Unmarshal([]byte(text), &list))
	if list.Kind != "PartialObjectMetadataList" || len(list.Items) != 3 || list.Items[2].Namespace != root || strings.Contains(text, `"data"`) {
		t.Errorf("%s, want the metadata of three objects", text)
	}
	if text := reader.get(t, path, "application/vnd.kubernetes.protobuf"); !strings.Contains(text, "unable to respond with a content type that the client supports") {
		t.Errorf("%s, want NotAcceptable", text)
	}
}

// The events of a watch of metadata are objects of another type than the lists that the server reads for it.
func TestWatchesOfMetadata(t *testing.T) {
	root, _, leaf := tree(t, "heads")
	secret(t, leaf, "a")
	reader := person(t, "heads")
	reader.grantAll(t, ask, "list watch secrets")
	suite.EventuallyEqual(t, "list", "heads-leaf/a", func() string { return reader.listed(t, "secrets", root, marked) })
	client, err := metadata.NewForConfig(reader.Config)
	must(t, "client", err)
	secrets := client.Resource(schema.GroupVersionResource{Group: "resources.hnc.x-k8s.io", Version: "v1alpha2", Resource: "secrets"}).Namespace(root)
	list, err := secrets.List(t.Context(), metav1.ListOptions{LabelSelector: marked.LabelSelector})
	must(t, "list", err)
	secret(t, leaf, "b")
	for revision, want := range map[string]string{"": "a", list.ResourceVersion: "b"} {
		w, err := secrets.Watch(t.Context(), metav1.ListOptions{LabelSelector: marked.LabelSelector, ResourceVersion: revision})
		must(t, "watch", err)
		event := <-w.ResultChan()
		w.Stop()
		if o, ok := event.Object.(*metav1.PartialObjectMetadata); !ok || o.Name != want || o.Namespace != leaf {
			t.Errorf("after revision %q: got %s %v, want secret %s", revision, event.Type, event.Object, want)
		}
	}
}

func TestWatchesAsTables(t *testing.T) {
	root, mid, leaf := tree(t, "rows")
	for _, ns := range []string{root, mid, leaf} {
		secret(t, ns, "a")
	}
	reader := person(t, "rows")
	reader.grantAll(t, ask, "list watch secrets")
	suite.EventuallyEqual(t, "list", "rows-leaf/a rows-mid/a rows-root/a", func() string { return reader.listed(t, "secrets", root, marked) })
	path := prefix + "/namespaces/rows-root/secrets?watch=true&labelSelector=test&includeObject="
	for _, include := range []string{"None", "Metadata", "Object"} {
		t.Run(include, func(t *testing.T) {
			lines := make(chan string, 100)
			go reader.stream(t, path+include, asTable, lines)
			var text strings.Builder
			next := func() metav1.Table {
				line := <-lines
				text.WriteString(line + "\n")
				var event struct{ Object metav1.Table }
				if err := json.Unmarshal([]byte(line), &event); err != nil || len(event.Object.Rows) != 1 {
					t.Fatalf("%v: %s", err, line)
				}
				return event.Object
			}
			for i := range 3 {
				table := next()
				if got, want := len(table.ColumnDefinitions) > 0, i == 0; got != want {
					t.Errorf("columns named by event %d: %t", i, got)
				}
			}
			move(t, leaf, "")
			if gone := next(); gone.Rows[0].Cells[0] != "a" || len(gone.Rows[0].Cells) != 4 || gone.Rows[0].Cells[1] != nil || gone.Kind != "Table" {
				t.Errorf("%v, want a row with nothing but a name", gone)
			}
			move(t, leaf, mid)
			if back := next(); back.Rows[0].Cells[1] != "Opaque" {
				t.Errorf("%v, want the whole row", back)
			}
			name := "b-" + strings.ToLower(include)
			secret(t, mid, name)
			if added := next(); added.Rows[0].Cells[0] != name || added.Rows[0].Cells[1] != "Opaque" {
				t.Errorf("%v, want the new secret", added)
			}
			must(t, "delete", admin.CoreV1().Secrets(mid).Delete(t.Context(), name, metav1.DeleteOptions{}))
			if got, want := strings.Contains(text.String(), leaf), include != "None"; got != want {
				t.Errorf("objects are in it: %t, want %t: %s", got, want, text.String())
			}
			if got, want := strings.Contains(text.String(), `"data"`), include == "Object"; got != want {
				t.Errorf("whole objects are in it: %t, want %t: %s", got, want, text.String())
			}
		})
	}
}

// stream sends the lines of a watch until the test ends.
func (u user) stream(t *testing.T, path, accept string, lines chan<- string) {
	body, err := u.CoreV1().RESTClient().Get().RequestURI(path).SetHeader("Accept", accept).Stream(t.Context())
	if err != nil {
		lines <- fmt.Sprint(err)
		return
	}
	defer func() { _ = body.Close() }()
	decoder := json.NewDecoder(body)
	for {
		var line json.RawMessage
		if decoder.Decode(&line) != nil {
			return
		}
		lines <- string(line)
	}
}
