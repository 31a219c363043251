package subtree

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
)

// form is how the caller wants objects to be shown. kube-apiserver is asked for the same, and its answer passed on as it is.
type form struct {
	// accept is the header for kube-apiserver.
	accept string
	// table and partial are the version of the form, if it is one of these; both are empty for whole objects.
	table, partial string
}

// negotiate finds a form that the caller accepts. All are JSON.
func negotiate(r *http.Request, s runtime.NegotiatedSerializer, watch bool) (form, error) {
	options, _, err := negotiation.NegotiateOutputMediaType(r, jsonOnly{s}, forms{watch})
	if err != nil {
		return form{}, err
	}
	f := form{accept: runtime.ContentTypeJSON}
	if as := options.Convert; as != nil {
		f.accept += fmt.Sprintf(";as=%s;g=%s;v=%s", as.Kind, as.Group, as.Version)
		if as.Kind == "Table" {
			f.table = as.GroupVersion().String()
		} else {
			f.partial = as.GroupVersion().String()
		}
	}
	return f, nil
}

type jsonOnly struct{ runtime.NegotiatedSerializer }

func (s jsonOnly) SupportedMediaTypes() []runtime.SerializerInfo {
	for _, info := range s.NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeJSON {
			return []runtime.SerializerInfo{info}
		}
	}
	return nil
}

// forms are those that kube-apiserver knows for any kind.
type forms struct{ watch bool }

func (f forms) AllowsMediaTypeTransform(_, _ string, as *schema.GroupVersionKind) bool {
	if as == nil {
		return true
	}
	if as.Group != metav1.GroupName || as.Version != "v1" && as.Version != "v1beta1" {
		return false
	}
	switch as.Kind {
	case "Table":
		return true
	case "PartialObjectMetadata":
		return f.watch
	case "PartialObjectMetadataList":
		return !f.watch
	}
	return false
}

func (forms) AllowsServerVersion(string) bool         { return false }
func (f forms) AllowsStreamSchema(schema string) bool { return f.watch && schema == "watch" }

// identity is what is read of an object.
type identity struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name              string            `json:"name,omitempty"`
		Namespace         string            `json:"namespace,omitempty"`
		UID               string            `json:"uid,omitempty"`
		ResourceVersion   string            `json:"resourceVersion,omitempty"`
		CreationTimestamp *string           `json:"creationTimestamp"`
		Annotations       map[string]string `json:"annotations,omitempty"`
	} `json:"metadata"`
}

// row is a row of a table.
type row struct {
	Cells  []any           `json:"cells"`
	Object json.RawMessage `json:"object,omitempty"`
}

// objects returns the objects of a list as those of a watch: each says of what kind it is, and a row is a table of its own.
func (p *page) objects() ([]json.RawMessage, error) {
	objects := make([]json.RawMessage, 0, p.len())
	for _, row := range p.Rows {
		object, err := json.Marshal(p.tableOf(row))
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	for _, item := range p.Items {
		var id identity
		if err := json.Unmarshal(item, &id); err != nil {
			return nil, err
		}
		if id.Kind == "" {
			prefix := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,`, strings.TrimSuffix(p.Kind, "List"), p.APIVersion)
			item = append(json.RawMessage(prefix), item[1:]...)
		}
		objects = append(objects, item)
	}
	return objects, nil
}

func (p *page) tableOf(row json.RawMessage) page {
	return page{
		Kind: p.Kind, APIVersion: p.APIVersion, Metadata: metav1.ListMeta{ResourceVersion: p.Metadata.ResourceVersion},
		ColumnDefinitions: p.ColumnDefinitions, Rows: []json.RawMessage{row},
	}
}
