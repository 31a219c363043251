package copies

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// inProtobuf is the encoding of kinds that are read in protobuf.
type inProtobuf struct{ *wire.Format }

// NewWireObject returns the record of an object that was read in protobuf.
func NewWireObject(w *wire.Object, kind Kind, rules *Rules) *Object {
	o := newObject(w, kind.GroupVersion().WithKind(kind.Kind).GroupKind(), w.Type, w.Role, rules)
	if !o.Fit() && !o.Copy {
		return o
	}
	labels, annotations := w.Labels, w.Annotations
	if !o.Copy {
		labels, annotations = copiedMetadata(w, o.overrides, rules)
	}
	c := &content{encoding: inProtobuf{w.Format}, metadata: wire.Metadata(w.Name, labels, annotations), rest: w.Rest}
	if o.Copy {
		c.owners = ownersOf(w)
	} else {
		o.content = c
	}
	o.Digest = c.digest()
	return o
}

func (inProtobuf) name() string { return "protobuf" }

func (e inProtobuf) body(metadata, rest []byte, uid types.UID, resourceVersion string) []byte {
	return e.Body(metadata, rest, uid, resourceVersion)
}
