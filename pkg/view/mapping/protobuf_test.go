package mapping

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func bytesField(number protowire.Number, value ...byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

func stringField(number protowire.Number, value string) []byte {
	return bytesField(number, []byte(value)...)
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// wirePod returns a Pod whose message is this.
func wirePod(message []byte) []byte { return wireObject("v1", "Pod", message) }

func wireObject(apiVersion, kind string, message []byte) []byte {
	return join([]byte(protobufPrefix), bytesField(1, join(stringField(1, apiVersion), stringField(2, kind))...), bytesField(2, message...))
}

func TestProtobufIsTranslatedOnTheWire(t *testing.T) {
	m := testMapper()
	unknown := join(protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 1<<63),
		protowire.AppendTag(nil, 998, protowire.StartGroupType), stringField(1, "prod"), protowire.AppendTag(nil, 998, protowire.EndGroupType))
	out, media, err := m.Request("application/vnd.kubernetes.protobuf", schema.GroupVersionKind{},
		wirePod(join(unknown, bytesField(1, join(unknown, stringField(3, "prod"), stringField(1, "prod"))...), unknown)))
	expected := wirePod(join(unknown, bytesField(1, join(unknown, stringField(3, "acme-prod"), stringField(1, "prod"))...), unknown))
	if err != nil || media != "application/vnd.kubernetes.protobuf" || string(out) != string(expected) {
		t.Errorf("%q, %v", out, err)
	}
}

func TestOddProtobufIsRefused(t *testing.T) {
	m := testMapper()
	envelope := bytesField(1, join(stringField(1, "v1"), stringField(2, "Pod"))...)
	// A decoder that cuts the number to 32 bits reads field 1.
	wrapped := join(protowire.AppendVarint(nil, (1<<32+1)<<3|uint64(protowire.BytesType)), protowire.AppendBytes(nil, stringField(3, "argocd")))
	for name, body := range map[string][]byte{
		"no prefix":                       []byte("x"),
		"namespace is a number":           wirePod(bytesField(1, protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 1)...)),
		"namespace is a group":            wirePod(bytesField(1, join(protowire.AppendTag(nil, 3, protowire.StartGroupType), protowire.AppendTag(nil, 3, protowire.EndGroupType))...)),
		"two namespaces":                  wirePod(bytesField(1, join(stringField(3, "prod"), stringField(3, "argocd"))...)),
		"metadata twice":                  wirePod(join(bytesField(1, stringField(3, "prod")...), bytesField(1, stringField(3, "argocd")...))),
		"a number that does not fit":      wirePod(wrapped),
		"a length beyond the end":         wirePod([]byte{1<<3 | 2, 200}),
		"field 0":                         wirePod([]byte{2, 0}),
		"end of a group":                  wirePod(protowire.AppendTag(nil, 1, protowire.EndGroupType)),
		"two messages":                    join([]byte(protobufPrefix), envelope, bytesField(2), bytesField(2)),
		"two types":                       join([]byte(protobufPrefix), envelope, envelope, bytesField(2)),
		"two kinds":                       join([]byte(protobufPrefix), bytesField(1, join(stringField(2, "Pod"), stringField(2, "RoleBinding"))...), bytesField(2)),
		"message that is not bytes":       join([]byte(protobufPrefix), envelope, protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1)),
		"two kinds of an owner":           wirePod(bytesField(1, bytesField(13, join(stringField(1, "Pod"), stringField(1, "Namespace"), stringField(3, "argocd"))...)...)),
		"two keys in a label":             wirePod(bytesField(1, bytesField(11, join(stringField(1, "a"), stringField(1, "b"))...)...)),
		"managed fields that are no JSON": wirePod(bytesField(1, bytesField(17, bytesField(7, stringField(1, "{")...)...)...)),
	} {
		if out, err := m.Protobuf(In, schema.GroupVersionKind{}, body); !apierrors.IsBadRequest(err) {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	for name, body := range map[string][]byte{
		"encoded":      join([]byte(protobufPrefix), envelope, bytesField(2), stringField(3, "gzip")),
		"unknown kind": join([]byte(protobufPrefix), bytesField(1, join(stringField(1, "a.b/v1"), stringField(2, "C"))...), bytesField(2)),
		"no protobuf":  join([]byte(protobufPrefix), bytesField(1, join(stringField(1, "hnc.x-k8s.io/v1beta1"), stringField(2, "Hierarchy"))...), bytesField(2)),
	} {
		if out, err := m.Protobuf(In, schema.GroupVersionKind{}, body); !apierrors.IsUnsupportedMediaType(err) || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}
