package copies

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/exceptions"
)

// Digest identifies the content of a copy.
type Digest [16]byte

// content is what a copy contains in any namespace: its metadata and everything else, each in the encoding.
type content struct {
	encoding encoding
	metadata []byte
	rest     []byte
	// owners are the UIDs in the owner references of a copy. Propagated copies have none: the garbage collector would
	// delete a copy with its owner, or try to for ever.
	owners []types.UID
}

// encoding is how objects of a kind are read and written. The same content has different digests in different
// encodings.
type encoding interface {
	// name identifies the encoding.
	name() string
	// body returns the request body of a copy. The namespace is in the URL of the request. Unless they are empty, uid
	// and resourceVersion make the write conditional on that version.
	body(metadata, rest []byte, uid types.UID, resourceVersion string) []byte
}

// ownersOf returns the UIDs of the owners of an object.
func ownersOf(m metav1.Object) (owners []types.UID) {
	for _, o := range m.GetOwnerReferences() {
		owners = append(owners, o.UID)
	}
	return owners
}

// copiedMetadata returns the labels and annotations that the copies of a source have. Source: docs/spec/hnc.md 3.9.
func copiedMetadata(source metav1.Object, overrides exceptions.Overrides, rules *Rules) (labels, annotations map[string]string) {
	labels = map[string]string{hnc.LabelInheritedFrom: source.GetNamespace()}
	if !rules.dropsLabel(hnc.LabelManagedBy) {
		labels[hnc.LabelManagedBy] = hnc.GroupName
	}
	for key, value := range source.GetLabels() {
		if key != hnc.LabelManagedBy && !Internal(key) && !rules.dropsLabel(key) {
			labels[key] = value
		}
	}
	annotations = map[string]string{}
	for key, value := range source.GetAnnotations() {
		if !Internal(key) && !rules.dropsAnnotation(key) {
			annotations[key] = value
		}
	}
	if overrides.Allowed {
		// The admission policy for copies reads it: only then may a local object replace the copy.
		annotations[hnc.AnnotationAllowOverride] = "true"
	}
	return labels, annotations
}

// Internal reports whether a label or annotation concerns the hierarchy, and so the source alone.
func Internal(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	return found && strings.HasSuffix(prefix, hnc.GroupName)
}

func (c *content) digest() Digest {
	h := sha256.New()
	// Each part has its length: users choose the UIDs of owners, which must not look like content.
	add := func(part []byte) {
		h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		h.Write(part)
	}
	add([]byte(c.encoding.name()))
	add(c.metadata)
	add(c.rest)
	for _, owner := range c.owners {
		add([]byte(owner))
	}
	var d Digest
	copy(d[:], h.Sum(nil))
	return d
}

func (c *content) body(uid types.UID, resourceVersion string) []byte {
	return c.encoding.body(c.metadata, c.rest, uid, resourceVersion)
}
