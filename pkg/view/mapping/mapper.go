package mapping

import (
	"encoding/json"
	"fmt"
	"mime"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// Mapper translates what passes between a view and the cluster. It is immutable, and safe for concurrent use. With
// names that are not relative, all methods return what they are given.
//
// The kind that a method is given is that of the resource in the request's URL: of items, not of their list. Errors are
// errors of the API.
type Mapper struct {
	names  *Names
	across bool
	kinds  *kinds
	groups *Groups
	// reserve counts what is kept of a response, or what a request grows by. Nil means that it is not counted.
	reserve func(bytes int64) (release func(), err error)
}

// New returns a Mapper. Groups are those of the view's own custom resources; nil means that it has none.
func New(names *Names, groups *Groups) *Mapper {
	return &Mapper{names: names, kinds: builtin(), groups: groups}
}

// Names returns the names of the view.
func (m *Mapper) Names() *Names { return m.names }

func (m *Mapper) translation(to Direction) *translation {
	t := &translation{names: m.names, to: to, across: m.across, kinds: m.kinds, groups: m.groups}
	if to == In {
		t.growth = &growth{limit: MaxRequest, reserve: m.reserve}
	}
	return t
}

// Message translates the names of namespaces in a text for people, such as a Warning, from real ones to those of the
// view.
func (m *Mapper) Message(text string) string { return m.translation(Out).message(text) }

// User returns the real name of a user or group of ServiceAccounts that has one of the view. Other names are unchanged.
func (m *Mapper) User(name string) string {
	if !m.names.relative {
		return name
	}
	return m.translation(In).user(name)
}

// MessageAbout does so for a text about a namespace, which need not be a member.
func (m *Mapper) MessageAbout(text, namespace string) string {
	return m.translation(Out).messageAbout(text, "", namespace)
}

// Request translates the body of a create or update from the view. It returns the body and the content type to send:
// YAML becomes JSON. Other content types than JSON, YAML and protobuf are refused with 415; clients then use JSON.
func (m *Mapper) Request(contentType string, kind schema.GroupVersionKind, body []byte) (mapped []byte, mappedType string, err error) {
	if !m.names.relative || len(body) == 0 {
		return body, contentType, nil
	}
	if err := checkSize(body); err != nil {
		return nil, "", err
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return nil, "", unsupported("the content type %q is malformed; use %s", contentType, runtime.ContentTypeJSON)
	}
	switch media {
	case "", runtime.ContentTypeJSON:
		mapped, err = m.requestJSON(kind, body)
		return mapped, contentType, err
	case runtime.ContentTypeYAML:
		if body, err = fromYAML(body); err != nil {
			return nil, "", err
		}
		mapped, err = m.requestJSON(kind, body)
		return mapped, runtime.ContentTypeJSON, err
	case runtime.ContentTypeProtobuf:
		mapped, err = m.Protobuf(In, kind, body)
		return mapped, contentType, err
	}
	return nil, "", unsupported("content type %q is not supported in a view; use %s", media, runtime.ContentTypeJSON)
}

func checkSize(body []byte) error {
	if len(body) > MaxRequest {
		return tooLarge(MaxRequest)
	}
	return nil
}

// requestJSON translates an object that is untrusted.
func (m *Mapper) requestJSON(kind schema.GroupVersionKind, body []byte) ([]byte, error) {
	if err := CheckJSON(body, maxDepth); err != nil {
		return nil, err
	}
	return m.ofRequest(len(body)).whole(kind, body)
}

// Object translates one JSON object that is in memory, of which kind is the default.
func (m *Mapper) Object(to Direction, kind schema.GroupVersionKind, object []byte) ([]byte, error) {
	if !m.names.relative {
		return object, nil
	}
	if to == In {
		return m.requestJSON(kind, object)
	}
	return m.translation(to).whole(kind, object)
}

// CheckJSON returns an error unless the text is one JSON value of at most so many levels.
func CheckJSON(text []byte, levels int) error {
	if yamlbody.Levels(text) > levels {
		return tooDeep(levels)
	}
	// Decoders make three bytes of one that is not UTF-8.
	if !utf8.Valid(text) || !json.Valid(text) {
		return badRequest(nil, "malformed JSON")
	}
	if tooManyMembers(text) {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("an object or map in a request may have %d members", maxMembers))
	}
	return nil
}

// fromYAML returns YAML as JSON, with the conversion that kube-apiserver uses.
func fromYAML(text []byte) ([]byte, error) {
	if err := yamlbody.Check(text); err != nil {
		return nil, badRequest(nil, "%v", err)
	}
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, badRequest(nil, "malformed YAML: %v", err)
	}
	return converted, checkSize(converted)
}

// whole translates one object with white space around it.
func (t *translation) whole(kind schema.GroupVersionKind, raw []byte) ([]byte, error) {
	start := space(raw, 0)
	out := append(make([]byte, 0, len(raw)+256), raw[:start]...)
	out, err := t.top(out, raw[start:], kind)
	if err != nil {
		return nil, err
	}
	return out, t.fits(len(out))
}

var (
	groupMeta   = "meta.k8s.io"
	statusKind  = schema.GroupKind{Kind: "Status"}
	partialKind = schema.GroupKind{Group: groupMeta, Kind: "PartialObjectMetadata"}
)

// top appends a translated object. Its kind is the one that it states, or that of the request. The error is errShadowed
// if the view does not show the object.
func (t *translation) top(out, raw []byte, request schema.GroupVersionKind) ([]byte, error) {
	if !isObject(raw) {
		return append(out, raw...), nil
	}
	kind, err := t.rootOf(raw, request)
	if err != nil {
		return nil, err
	}
	if t.to == Out && kind.GroupKind() == statusKind {
		return t.status(out, raw, request)
	}
	if kind.GroupKind() == partialKind || request.GroupKind() == Definition.GroupKind() && kind.GroupKind() == storedDefinition.GroupKind() {
		kind = request
	}
	t, shown := t.ofMember(raw, kind.GroupKind())
	if !shown {
		return nil, errShadowed
	}
	n := t.kinds.of(kind).node
	if err := t.checkMembers(raw, n, nil); err != nil {
		return nil, err
	}
	if n.fields == nil {
		return append(out, raw...), nil
	}
	return t.members(out, raw, n, nil)
}
