package hierarchyplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	restclient "k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// pageObjects and pageBytes bound a page of a list. Pages of large objects have fewer objects.
const (
	pageObjects = 250
	pageBytes   = 4 << 20
)

// ObjectLister lists objects in pages of bounded size. The pager of client-go bounds the number of objects in a page,
// but not the bytes.
type ObjectLister struct{ client restclient.Interface }

// NewObjectLister returns an ObjectLister for a cluster.
func NewObjectLister(config *restclient.Config) (*ObjectLister, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion = &schema.GroupVersion{}
	client, err := restclient.UnversionedRESTClientFor(config)
	return &ObjectLister{client}, err
}

// errMore reports that there are more objects than the caller wants to have listed.
var errMore = errors.New("there are more objects")

// named selects the object of a name.
func named(name string) url.Values {
	return url.Values{"fieldSelector": {fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}}
}

// forEach calls f for each object of a resource in a namespace, "" for all, that is wanted by its namespace. The query
// selects them. If more than most objects follow the first page, it returns errMore before the first call; 0 is no
// limit.
//
// One object of a list is decoded at a time, and none with very many values: each needs much more memory than its text
// has.
func (o *ObjectLister) forEach(ctx context.Context, resource schema.GroupVersionResource, namespace string, query url.Values, most int,
	wanted func(namespace string) bool, f func(*unstructured.Unstructured) error,
) error {
	for limit, token := pageObjects, ""; ; {
		raw, err := o.page(ctx, resource, namespace, query, limit, token)
		if errors.Is(err, errLargePage) && limit > 1 {
			limit = max(1, limit/8)
			continue
		}
		if err != nil {
			return err
		}
		list, err := deepjson.ReadList(raw)
		if err != nil {
			return err
		}
		if remaining := list.Metadata.RemainingItemCount; token == "" && most > 0 && remaining != nil && *remaining > int64(most) {
			return errMore
		}
		for _, raw := range list.Items {
			if err := each(list, raw, wanted, f); err != nil {
				return err
			}
		}
		if token = list.Metadata.Continue; token == "" {
			return nil
		}
	}
}

// each calls f for an item if it is wanted.
func each(list *deepjson.List, raw json.RawMessage, wanted func(namespace string) bool, f func(*unstructured.Unstructured) error) error {
	var o struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &o); err != nil || !wanted(o.Metadata.Namespace) {
		return err
	}
	if err := yamlbody.CheckValues(raw); err != nil {
		return fmt.Errorf("one of the objects: %w", err) // Its name is not for everybody.
	}
	item, err := list.Item(raw)
	if err != nil {
		return err
	}
	return f(&item)
}

var errLargePage = errors.New("an object exceeds the page size")

func (o *ObjectLister) page(ctx context.Context, resource schema.GroupVersionResource, namespace string, query url.Values, limit int, token string) ([]byte, error) {
	path := []string{"api", resource.Version}
	if resource.Group != "" {
		path = []string{"apis", resource.Group, resource.Version}
	}
	request := o.client.Get().AbsPath(path...).NamespaceIfScoped(namespace, namespace != "").Resource(resource.Resource).
		Param("limit", strconv.Itoa(limit))
	if token != "" {
		request.Param("continue", token)
	}
	for key, values := range query {
		request.Param(key, values[0])
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(body, pageBytes+1))
	if err == nil && len(raw) > pageBytes {
		err = errLargePage
	}
	return raw, err
}
