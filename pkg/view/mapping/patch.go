package mapping

import (
	"mime"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Patch translates a patch of an object of this kind, of any of the four types. It returns the patch to send with the
// same content type; apply patches in YAML become JSON, which is YAML, too.
func (m *Mapper) Patch(contentType string, kind schema.GroupVersionKind, patch []byte) ([]byte, error) {
	if !m.names.relative {
		return patch, nil
	}
	if err := checkSize(patch); err != nil {
		return nil, err
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, unsupported("the content type %q of the patch is malformed; use %s", contentType, types.MergePatchType)
	}
	t := m.ofRequest(len(patch))
	t.partial = true
	switch types.PatchType(media) {
	case types.JSONPatchType:
		if err := CheckJSON(patch, maxDepth); err != nil {
			return nil, err
		}
		return t.jsonPatch(kind, patch)
	case types.MergePatchType, types.StrategicMergePatchType:
	case types.ApplyYAMLPatchType:
		if patch, err = fromYAML(patch); err != nil {
			return nil, err
		}
	default:
		return nil, unsupported("patches of type %q are not supported in a view; use %s", media, types.MergePatchType)
	}
	if err := CheckJSON(patch, maxDepth); err != nil {
		return nil, err
	}
	out, err := t.partOf(make([]byte, 0, len(patch)+256), patch, kind)
	if err != nil {
		return nil, err
	}
	return out, t.fits(len(out))
}

// partOf appends a translated partial object. It cannot change the kind of the object.
func (t *translation) partOf(out, patch []byte, kind schema.GroupVersionKind) ([]byte, error) {
	patch = patch[space(patch, 0):]
	if !isObject(patch) {
		return nil, badRequest(nil, "the patch must be an object")
	}
	stated, err := t.rootOf(patch, kind)
	if err != nil {
		return nil, err
	}
	if stated.GroupKind() != kind.GroupKind() {
		return nil, badRequest(nil, "kind: the patch is of %s, and the object of %s; leave out apiVersion and kind, or set them to those of the object",
			stated.GroupKind(), kind.GroupKind())
	}
	return t.top(out, patch, kind)
}
