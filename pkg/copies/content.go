package copies

import (
	"crypto/sha256"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/exceptions"
)

// Digest identifies the content of a copy.
type Digest [16]byte

// content is what a copy contains, whatever namespace it is in, as two JSON objects.
type content struct {
	metadata []byte
	rest     []byte
}

// copyContent returns what the copies of a source contain. Source: spec/hnc.md 3.9.
func copyContent(source *unstructured.Unstructured, overrides exceptions.Overrides, rules *Rules) (*content, error) {
	labels := map[string]string{hnc.LabelInheritedFrom: source.GetNamespace()}
	if !rules.dropsLabel(hnc.LabelManagedBy) {
		labels[hnc.LabelManagedBy] = hnc.GroupName
	}
	for key, value := range source.GetLabels() {
		if key != hnc.LabelManagedBy && !internal(key) && !rules.dropsLabel(key) {
			labels[key] = value
		}
	}
	annotations := map[string]string{}
	for key, value := range source.GetAnnotations() {
		if !internal(key) && !rules.dropsAnnotation(key) {
			annotations[key] = value
		}
	}
	if overrides.Allowed {
		// The admission policy for copies reads it: only then may an object of somebody's own take the place of the copy.
		annotations[hnc.AnnotationAllowOverride] = "true"
	}
	return contentOf(source, labels, annotations)
}

// internal says whether a label or annotation is about the hierarchy, and so about the source alone.
func internal(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	return found && strings.HasSuffix(prefix, hnc.GroupName)
}

// contentOf returns an object's name and payload with the given labels and annotations, and nothing else of its metadata.
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
	var c content
	var err error
	// Maps are encoded in the order of their keys, so equal content has equal bytes.
	if c.metadata, err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	c.rest, err = json.Marshal(payload)
	return &c, err
}

func (c *content) digest() Digest {
	h := sha256.New()
	h.Write(c.metadata)
	h.Write(c.rest)
	var d Digest
	copy(d[:], h.Sum(nil))
	return d
}

// body returns the request body of a copy. The namespace is left to the request's URL; uid and resourceVersion, unless
// empty, make the write conditional on the version that they name.
func (c *content) body(uid types.UID, resourceVersion string) []byte {
	body := make([]byte, 0, len(c.metadata)+len(c.rest)+len(uid)+len(resourceVersion)+48)
	body = append(body, `{"metadata":{`...)
	if uid != "" {
		body = append(body, `"uid":"`+string(uid)+`",`...)
	}
	if resourceVersion != "" {
		body = append(body, `"resourceVersion":"`+resourceVersion+`",`...)
	}
	body = append(body, c.metadata[1:]...)
	body = append(body, ',')
	return append(body, c.rest[1:]...)
}

// Copied returns what a copy of the source contains, as JSON without a namespace; nil of one that may have no copies.
func (o *Object) Copied() []byte {
	if o.content == nil {
		return nil
	}
	return o.content.body("", "")
}

// Present returns of an object what a copy in its place would replace, as JSON in the same form as that of a copy.
func Present(u *unstructured.Unstructured) ([]byte, error) {
	c, err := contentOf(u, u.GetLabels(), u.GetAnnotations())
	if err != nil {
		return nil, err
	}
	return c.body("", ""), nil
}
