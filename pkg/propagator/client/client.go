// Package client writes copies whose bodies are encoded already, of any kind, and reads objects as package wire does.
// Typed and dynamic clients would decode and encode each object.
package client

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// These request a response with the metadata only.
const (
	partialMetadata = runtime.ContentTypeJSON + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + runtime.ContentTypeJSON
	protobufFirst   = runtime.ContentTypeProtobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + partialMetadata
)

type restClient struct{ client rest.Interface }

// New returns a client that sends bodies unchanged, in JSON or in protobuf, for any kind of object.
func New(client rest.Interface) copies.Client { return restClient{client: client} }

func (c restClient) Create(ctx context.Context, kind copies.Kind, namespace string, body []byte) (copies.Written, error) {
	return written(c.client.Post().AbsPath(path(kind, namespace)...), body).decode(ctx)
}

func (c restClient) TryCreate(ctx context.Context, kind copies.Kind, namespace string, body []byte) error {
	_, err := written(c.client.Post().AbsPath(path(kind, namespace)...).Param("dryRun", metav1.DryRunAll), body).decode(ctx)
	return err
}

func (c restClient) TryUpdate(ctx context.Context, kind copies.Kind, namespace, name string, body []byte) error {
	_, err := written(c.client.Put().AbsPath(append(path(kind, namespace), name)...).Param("dryRun", metav1.DryRunAll), body).decode(ctx)
	return err
}

func (c restClient) Update(ctx context.Context, kind copies.Kind, namespace, name string, body []byte) (copies.Written, error) {
	return written(c.client.Put().AbsPath(append(path(kind, namespace), name)...), body).decode(ctx)
}

func (c restClient) Read(ctx context.Context, kind copies.Kind, namespace, name string) (present copies.Written, inheritedFrom string, err error) {
	raw, err := rawOf(c.client.Get().AbsPath(append(path(kind, namespace), name)...).SetHeader("Accept", partialMetadata).Do(ctx))
	if err != nil {
		return copies.Written{}, "", err
	}
	present, ofCopy, err := decodeJSON(raw)
	if err != nil {
		return copies.Written{}, "", fmt.Errorf("%s %s/%s: %w", kind.Resource, namespace, name, err)
	}
	return present, ofCopy[hnc.LabelInheritedFrom], nil
}

func (c restClient) Delete(ctx context.Context, kind copies.Kind, namespace, name string, present copies.Written) error {
	preconditions := &metav1.Preconditions{UID: &present.UID}
	if present.ResourceVersion != "" {
		preconditions.ResourceVersion = &present.ResourceVersion
	}
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Preconditions: preconditions,
	})
	if err != nil {
		return err
	}
	return c.client.Delete().AbsPath(append(path(kind, namespace), name)...).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Error()
}

// DeleteCopies selects the copies by their label: a selector by name would be as long as the name.
func (c restClient) DeleteCopies(ctx context.Context, kind copies.Kind, namespace, inheritedFrom string) error {
	return c.client.Delete().AbsPath(path(kind, namespace)...).
		Param("labelSelector", labels.Set{hnc.LabelInheritedFrom: inheritedFrom}.String()).Do(ctx).Error()
}

// path returns the parts of the path of a kind's objects in a namespace, or in all namespaces.
func path(kind copies.Kind, namespace string) []string {
	root := []string{"apis", kind.Group, kind.Version}
	if kind.Group == "" {
		root = []string{"api", kind.Version}
	}
	if namespace == "" {
		return append(root, kind.Resource)
	}
	return append(root, "namespaces", namespace, kind.Resource)
}

type request struct{ *rest.Request }

func written(r *rest.Request, body []byte) request {
	contentType, accept := runtime.ContentTypeJSON, partialMetadata
	if wire.Recognizes(body) {
		contentType, accept = runtime.ContentTypeProtobuf, protobufFirst
	}
	return request{r.SetHeader("Content-Type", contentType).SetHeader("Accept", accept).Body(body)}
}

// rawOf returns the body of a response, or the error with the server's status, which that of Raw lacks.
func rawOf(result rest.Result) ([]byte, error) {
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

func (r request) decode(ctx context.Context) (copies.Written, error) {
	raw, err := rawOf(r.Do(ctx))
	if err != nil {
		return copies.Written{}, err
	}
	w, err := decodeWritten(raw)
	if err != nil {
		return copies.Written{}, fmt.Errorf("answer to a write: %w", err)
	}
	return w, nil
}

func decodeWritten(raw []byte) (copies.Written, error) {
	if wire.Recognizes(raw) {
		m, err := wire.DecodeMetadata(raw)
		if err != nil {
			return copies.Written{}, err
		}
		return copies.Written{UID: m.UID, ResourceVersion: m.ResourceVersion}, nil
	}
	w, _, err := decodeJSON(raw)
	return w, err
}

// decodeJSON decodes what is needed of the metadata of an object. Tenants may change the managed fields of copies, which
// can have times that are encoded but cannot be decoded, or very many levels.
func decodeJSON(raw []byte) (copies.Written, map[string]string, error) {
	var object struct {
		Metadata struct {
			UID             types.UID         `json:"uid"`
			ResourceVersion string            `json:"resourceVersion"`
			Labels          map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	err := deepjson.Unmarshal(raw, &object)
	return copies.Written{UID: object.Metadata.UID, ResourceVersion: object.Metadata.ResourceVersion}, object.Metadata.Labels, err
}
