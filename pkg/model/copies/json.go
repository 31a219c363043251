package copies

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// inJSON is the encoding of kinds that are read as unstructured objects: two JSON objects.
type inJSON struct{}

// contentOf returns an object's name and payload with the given labels and annotations, without its other metadata.
func contentOf(u *unstructured.Unstructured, labels, annotations map[string]string) (*content, error) {
	metadata := map[string]any{"name": u.GetName(), "labels": labels}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	payload := make(map[string]any, len(u.Object))
	for field, value := range u.Object {
		if field != "metadata" && field != "status" {
			payload[field] = value
		}
	}
	c := content{encoding: inJSON{}}
	var err error
	// Maps are encoded in the order of their keys, so equal content has equal bytes.
	if c.metadata, err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	c.rest, err = json.Marshal(payload)
	return &c, err
}

func (inJSON) name() string { return "json" }

func (inJSON) body(metadata, rest []byte, uid types.UID, resourceVersion string) []byte {
	body := make([]byte, 0, len(metadata)+len(rest)+len(uid)+len(resourceVersion)+48)
	body = append(body, `{"metadata":{`...)
	if uid != "" {
		body = append(body, `"uid":"`+string(uid)+`",`...)
	}
	if resourceVersion != "" {
		body = append(body, `"resourceVersion":"`+resourceVersion+`",`...)
	}
	body = append(body, metadata[1:]...)
	body = append(body, ',')
	return append(body, rest[1:]...)
}

// Copied returns the content of a source's copies, as JSON without a namespace; nil if it may have no copies. The
// source must be a result of NewObject.
func (o *Object) Copied() []byte {
	if o.content == nil {
		return nil
	}
	return o.content.body("", "")
}

// Present returns the part of an object that a copy would replace, as JSON in the form of a copy.
func Present(u *unstructured.Unstructured) ([]byte, error) {
	c, err := contentOf(u, u.GetLabels(), u.GetAnnotations())
	if err != nil {
		return nil, err
	}
	return c.body("", ""), nil
}
