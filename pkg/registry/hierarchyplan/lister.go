package hierarchyplan

import (
	"context"
	"errors"
	"io"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	restclient "k8s.io/client-go/rest"
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

// forEach calls f for each object of a resource in a namespace, "" for all. If more than most objects follow the first
// page, it returns errMore before the first call; 0 is no limit.
func (o *ObjectLister) forEach(ctx context.Context, resource schema.GroupVersionResource, namespace string, most int, f func(*unstructured.Unstructured) error) error {
	for limit, token := pageObjects, ""; ; {
		raw, err := o.page(ctx, resource, namespace, limit, token)
		if errors.Is(err, errLargePage) && limit > 1 {
			limit = max(1, limit/8)
			continue
		}
		if err != nil {
			return err
		}
		var list unstructured.UnstructuredList
		if err := list.UnmarshalJSON(raw); err != nil {
			return err
		}
		if remaining := list.GetRemainingItemCount(); token == "" && most > 0 && remaining != nil && *remaining > int64(most) {
			return errMore
		}
		for i := range list.Items {
			if err := f(&list.Items[i]); err != nil {
				return err
			}
		}
		if token = list.GetContinue(); token == "" {
			return nil
		}
	}
}

var errLargePage = errors.New("an object exceeds the page size")

func (o *ObjectLister) page(ctx context.Context, resource schema.GroupVersionResource, namespace string, limit int, token string) ([]byte, error) {
	path := []string{"api", resource.Version}
	if resource.Group != "" {
		path = []string{"apis", resource.Group, resource.Version}
	}
	request := o.client.Get().AbsPath(path...).NamespaceIfScoped(namespace, namespace != "").Resource(resource.Resource).
		Param("limit", strconv.Itoa(limit))
	if token != "" {
		request.Param("continue", token)
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
