package rbac

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/patch"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// Config describes a request in a view.
type Config struct {
	// Root is the real name of the view's namespace, and Names its names.
	Root  string
	Names Names
	// Resource is that of the view, and Verb the request's.
	Resource, Verb string
	// Scopes are those of the resources of the cluster.
	Scopes Scopes
	// Reserve counts bytes of the response that are kept in memory until they are released, ReserveCurrent those of the
	// object that a patch is applied to, before anything is written.
	Reserve, ReserveCurrent func(bytes int64) (release func(), err error)
}

// Transport returns a transport for one request. The request is for objects of the cluster, by its path and query; its
// body is that of the view, and so is the body of the response. Responses must be asked for in JSON. Errors that are
// errors of the API are the response.
func Transport(config Config, next http.RoundTripper) http.RoundTripper {
	return &transport{
		conversion: conversion{resource: resources[config.Resource], names: config.Names, root: config.Root, scopes: config.Scopes, reserve: config.Reserve},
		verb:       config.Verb, reserveCurrent: config.ReserveCurrent, next: next,
	}
}

type transport struct {
	conversion
	verb           string
	reserveCurrent func(bytes int64) (release func(), err error)
	next           http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	applies := types.PatchType(mediaType) == types.ApplyYAMLPatchType
	t.creates = t.verb != "patch" || applies
	var response *http.Response
	var err error
	switch {
	case t.verb == "create", t.verb == "update", t.verb == "patch" && applies:
		response, err = t.write(r, mediaType)
	case t.verb == "patch" && t.cluster:
		response, err = t.patch(r, mediaType)
	case t.verb == "patch" && t.bindings:
		response, err = t.patchBinding(r, mediaType)
	default:
		response, err = t.next.RoundTrip(r)
	}
	if err != nil {
		return nil, err
	}
	return response, t.respond(r, response)
}

// write sends a whole object.
func (t *transport) write(r *http.Request, mediaType string) (*http.Response, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	o, err := decode(mediaType, body)
	if err != nil {
		return nil, err
	}
	return t.send(r, o)
}

// send converts an object of the view and sends it. Warnings of the view are added to those of the response.
func (t *transport) send(r *http.Request, o object) (*http.Response, error) {
	warnings, err := t.in(o)
	if err != nil {
		return nil, err
	}
	body, err := typed.Encode(o)
	if err != nil {
		return nil, err
	}
	contentType := runtime.ContentTypeJSON
	if r.Method == http.MethodPatch {
		contentType = string(types.ApplyYAMLPatchType)
	}
	response, err := t.next.RoundTrip(withBody(r, contentType, body))
	if err == nil && t.bindings && response.StatusCode == http.StatusNotFound {
		response, err = t.again(r, text(child(o, "roleRef"), "name"), contentType, body, response)
	}
	if err != nil {
		return nil, err
	}
	for _, warning := range warnings {
		if header, err := net.NewWarningHeader(299, "", warning); err == nil {
			response.Header.Add("Warning", header)
		}
	}
	return response, nil
}

// A binding waits so long for a Role that the view has, which reaches the other namespaces after the root. The
// authorizer knows it later still, so the binding is written again so many times.
const arrival, repetitions = 10 * time.Second, 5

// again repeats the write of a binding that was not found, if the root has the Role that it refers to.
func (t *transport) again(r *http.Request, role, contentType string, body []byte, response *http.Response) (*http.Response, error) {
	if _, ok := t.names.shownRole(role); !ok || !t.has(r, t.root, role) {
		return response, nil
	}
	namespace, _, _ := strings.Cut(r.URL.Path[strings.LastIndex(r.URL.Path, namespacesPath)+len(namespacesPath):], "/")
	ctx, cancel := context.WithTimeout(r.Context(), arrival)
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) { return t.has(r, namespace, role), nil })
	if err != nil {
		return response, nil
	}
	for range repetitions {
		select {
		case <-ctx.Done():
			return response, nil
		case <-time.After(100 * time.Millisecond):
		}
		drain(response)
		if response, err = t.next.RoundTrip(withBody(r, contentType, body)); err != nil || response.StatusCode != http.StatusNotFound {
			return response, err
		}
	}
	return response, nil
}

const namespacesPath = "/namespaces/"

// has reports whether a namespace has a Role that the caller may read.
func (t *transport) has(r *http.Request, namespace, role string) bool {
	before := r.URL.EscapedPath()[:strings.LastIndex(r.URL.EscapedPath(), namespacesPath)] + namespacesPath + namespace + "/roles/"
	unescaped, err := url.PathUnescape(before)
	if err != nil {
		return false
	}
	get := withBody(r, "", nil)
	get.Method = http.MethodGet
	get.URL = &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: unescaped + role, RawPath: before + url.PathEscape(role)}
	get.Header.Set("Accept", runtime.ContentTypeJSON)
	response, err := t.next.RoundTrip(get)
	if err != nil {
		return false
	}
	drain(response)
	return response.StatusCode == http.StatusOK
}

// attempts is how often a patch is applied to an object that others change.
const attempts = 5

// patch applies a patch to the object as it is in the view, and sends the result.
func (t *transport) patch(r *http.Request, mediaType string) (*http.Response, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var value any = rbacv1.ClusterRole{}
	if t.bindings {
		value = rbacv1.ClusterRoleBinding{}
	}
	for attempt := 1; ; attempt++ {
		response, repeat, err := t.patchOnce(r, mediaType, body, value)
		if err != nil || !repeat || attempt == attempts {
			return response, err
		}
		drain(response)
	}
}

// patchOnce applies a patch once. Repeat reports whether others have changed the object in the meantime.
func (t *transport) patchOnce(r *http.Request, mediaType string, body []byte, value any) (response *http.Response, repeat bool, err error) {
	get := withBody(r, "", nil)
	get.Method, get.URL.RawQuery = http.MethodGet, ""
	get.Header.Set("Accept", runtime.ContentTypeJSON)
	response, err = t.next.RoundTrip(get)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, false, err
	}
	before := *t
	before.reserve = t.reserveCurrent
	counted := &metered{Reader: response.Body, reserve: before.reserve, copies: copies}
	defer counted.release()
	current, err := io.ReadAll(counted)
	drain(response)
	if err != nil {
		return nil, false, err
	}
	shown, err := before.patchable(r, current)
	if err != nil {
		return nil, false, err
	}
	release, err := before.decoding(shown)
	if err != nil {
		return nil, false, err
	}
	defer release()
	o, version, err := t.patched(r, mediaType, shown, body, value)
	if err != nil {
		return nil, false, err
	}
	put := withBody(r, "", nil)
	put.Method = http.MethodPut
	response, err = t.send(put, o)
	return response, err == nil && response.StatusCode == http.StatusConflict && text(child(o, "metadata"), "resourceVersion") == version, err
}

// patchable returns an object as it is in the view, unless a patch of it would lose rules.
func (t *transport) patchable(r *http.Request, current []byte) ([]byte, error) {
	known, err := t.knowsRules(current)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, apierrors.NewConflict(rbacv1.Resource(t.plural), t.nameOf(r),
			errors.New("rules: those without effect are not what they were when they were written; write the whole object with all of its rules"))
	}
	shown, err := t.out(nil, current)
	if errors.Is(err, errHidden) {
		return nil, t.notFound(r)
	}
	return shown, err
}

// patched returns an object of the view as a patch changes it, and the version of the object before.
func (t *transport) patched(r *http.Request, mediaType string, shown, body []byte, value any) (o object, version string, err error) {
	after, err := patch.Apply(r.Context(), mediaType, shown, body, value)
	if err != nil {
		return nil, "", err
	}
	if o, err = decode(runtime.ContentTypeJSON, after); err != nil {
		return nil, "", err
	}
	was, metadata := mapping.MemberOf(shown, "metadata"), child(o, "metadata")
	if text(metadata, "name") != mapping.TextOf(was, "name") {
		return nil, "", apierrors.NewBadRequest("metadata.name: a patch must not change it")
	}
	// Without them, the object would be replaced whatever it is by now.
	for _, name := range []string{"resourceVersion", "uid"} {
		if text(metadata, name) == "" {
			metadata[name] = mapping.TextOf(was, name)
		}
	}
	return o, mapping.TextOf(was, "resourceVersion"), nil
}

// knowsRules reports whether the annotation of a Role, if it has one, says which rules of the ClusterRole it lacks. It
// does not if other kinds exist now, or somebody else has changed the Role: a patch of what is shown would lose them.
func (t *transport) knowsRules(stored []byte) (bool, error) {
	annotation := viewRules(mapping.MemberOf(stored, "metadata"))
	if annotation == "" || t.bindings {
		return true, nil
	}
	_, ok, err := t.written(annotation, mapping.MemberOf(stored, "rules"))
	return ok, err
}

func (t *transport) notFound(r *http.Request) error {
	return apierrors.NewNotFound(rbacv1.Resource(t.plural), t.nameOf(r))
}

// nameOf returns the name in the view of the object of a request.
func (t *transport) nameOf(r *http.Request) string {
	stored := path.Base(r.URL.Path)
	if name, ok := t.names.Shown(stored); ok {
		return name
	}
	return stored
}

// patchBinding sends a patch of an ordinary binding. Its roleRef cannot be changed, and is converted if a client
// repeats it.
func (t *transport) patchBinding(r *http.Request, mediaType string) (*http.Response, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	switch types.PatchType(mediaType) {
	case types.MergePatchType, types.StrategicMergePatchType:
		o, err := decode(runtime.ContentTypeJSON, body)
		if err != nil {
			return nil, err
		}
		if o["roleRef"] != nil {
			t.roleIn(o)
			if body, err = typed.Encode(o); err != nil {
				return nil, err
			}
		}
	case types.JSONPatchType:
		var operations []struct {
			Path string `json:"path"`
		}
		if err := json.Unmarshal(body, &operations); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		for i, operation := range operations {
			if operation.Path == "" || strings.HasPrefix(operation.Path, "/roleRef") {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("[%d].path: roleRef cannot be changed; delete the binding and create another one", i))
			}
		}
	default:
		return nil, unsupported(mediaType)
	}
	return t.next.RoundTrip(withBody(r, r.Header.Get("Content-Type"), body))
}

// respond converts a response, as it streams.
func (t *transport) respond(r *http.Request, response *http.Response) error {
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if mediaType != runtime.ContentTypeJSON || r.Method == http.MethodHead {
		return nil
	}
	whole := response.StatusCode != http.StatusOK || t.verb != "list" && t.verb != "watch" && t.verb != "deletecollection"
	body, counted := response.Body, &metered{Reader: response.Body, reserve: t.reserve, copies: copies}
	if whole {
		counted.copies = copiesOfWhole
		served := false
		defer func() {
			_ = body.Close()
			if !served {
				counted.release()
			}
		}()
		converted, err := t.whole(r, counted)
		if err != nil {
			return err
		}
		served = true
		response.Body = &kept{bytes.NewReader(converted), sync.OnceFunc(func() { counted.release() })}
		response.ContentLength = int64(len(converted))
		response.Header.Set("Content-Length", strconv.Itoa(len(converted)))
		return nil
	}
	reader, writer := io.Pipe()
	go func() {
		err := t.stream(counted, writer)
		counted.release()
		_ = body.Close()
		_ = writer.CloseWithError(err)
	}()
	response.Body, response.ContentLength = &streamed{reader, body}, -1
	response.Header.Del("Content-Length")
	return nil
}

// whole reads and converts one object.
func (t *transport) whole(r *http.Request, body io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	converted, err := t.convert(nil, raw)
	if errors.Is(err, errHidden) {
		return nil, t.notFound(r)
	}
	return converted, err
}

// kept is a body in memory, which counts until it is closed.
type kept struct {
	*bytes.Reader
	release func()
}

// Close implements io.Closer.
func (k *kept) Close() error {
	k.release()
	return nil
}

// stream converts a list or a watch.
func (t *transport) stream(r *metered, w io.Writer) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("converting a response: %v", cause)
		}
	}()
	if t.verb == "watch" {
		return t.watch(r, w)
	}
	if err = t.list(r, w); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // or the list would seem to be complete
	}
	return err
}

// streamed is a body that is converted. Closing it ends the original one, too.
type streamed struct {
	*io.PipeReader
	original io.Closer
}

// Close implements io.Closer.
func (s *streamed) Close() error {
	_ = s.PipeReader.Close()
	return s.original.Close()
}

func drain(response *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	_ = response.Body.Close()
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer func() { _ = r.Body.Close() }()
	return io.ReadAll(r.Body)
}

// withBody returns a request with another body.
func withBody(r *http.Request, contentType string, body []byte) *http.Request {
	changed := r.Clone(r.Context())
	changed.Body, changed.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	changed.Header.Set("Content-Type", contentType)
	if len(body) == 0 {
		changed.Body = http.NoBody
		changed.Header.Del("Content-Type")
	}
	return changed
}

func unsupported(mediaType string) error {
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "", rbacv1.Resource(ClusterRoles), "", mediaType+" is not supported in a view; use JSON", 0, true)
}

// decode decodes an object in any form that kube-apiserver accepts.
func decode(mediaType string, body []byte) (object, error) {
	switch mediaType {
	case runtime.ContentTypeProtobuf:
		decoded, err := typed.Protobuf(body)
		if err != nil {
			return nil, err
		}
		if body, err = typed.Encode(decoded); err != nil {
			return nil, err
		}
	case runtime.ContentTypeYAML, string(types.ApplyYAMLPatchType):
		if err := yamlbody.Check(body); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		converted, err := yaml.YAMLToJSONStrict(body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		body = converted
	case runtime.ContentTypeCBOR:
		return nil, unsupported(mediaType)
	}
	if err := yamlbody.CheckValues(body); err != nil {
		return nil, err
	}
	var o object
	if err := utiljson.Unmarshal(body, &o); err != nil {
		return nil, apierrors.NewBadRequest("the body is not an object: " + err.Error())
	}
	if o == nil {
		return nil, apierrors.NewBadRequest("the body is not an object")
	}
	return o, nil
}
