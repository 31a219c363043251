package hierarchyplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"golang.org/x/sync/semaphore"
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

// pageObjects and pageBytes bound a page of a list. Pages of large objects have fewer objects, and one object may have
// objectBytes: the 1.5 MiB that etcd stores are up to six times as much in JSON. Other lists wait while such an object is
// read, so one list has at most maxLarge of them.
const (
	pageObjects = 250
	pageBytes   = 4 << 20
	objectBytes = 16 << 20
	maxLarge    = 16
)

// ObjectLister lists objects in pages of bounded size. The pager of client-go bounds the number of objects in a page,
// but not the bytes.
type ObjectLister struct {
	client restclient.Interface
	// large is held while an object that is larger than a page is in memory.
	large *semaphore.Weighted
}

// NewObjectLister returns an ObjectLister for a cluster.
func NewObjectLister(config *restclient.Config) (*ObjectLister, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion = &schema.GroupVersion{}
	client, err := restclient.UnversionedRESTClientFor(config)
	return &ObjectLister{client, semaphore.NewWeighted(1)}, err
}

var (
	// errMore reports that there are more objects than the caller wants to have listed.
	errMore = errors.New("there are too many objects")
	// errManyLarge reports that more than maxLarge objects of a list are large.
	errManyLarge = errors.New("too many large objects")
)

// find returns the object of a name, nil if there is none, or errLargePage if it is larger than a page. It lists because
// the server lacks the verb get, which would include subresources.
func (o *ObjectLister) find(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (found *unstructured.Unstructured, err error) {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, name)
	raw, err := o.page(ctx, resource, namespace, url.Values{"limit": {"1"}, "fieldSelector": {selector.String()}}, pageBytes)
	if err != nil {
		return nil, err
	}
	list, err := deepjson.ReadList(raw)
	if err != nil || len(list.Items) == 0 {
		return nil, err
	}
	err = each(list, list.Items[0], func(string) bool { return true }, func(u *unstructured.Unstructured) error {
		found = u
		return nil
	})
	return found, err
}

// forEach calls f for each object of a resource in a namespace, "" for all, that is wanted by its namespace. If more than
// most objects follow the first page, it returns errMore before the first call; 0 is no limit.
//
// One object of a list is decoded at a time, and none with very many values: each needs much more memory than its text
// has. An object that is larger than a page is read alone.
func (o *ObjectLister) forEach(ctx context.Context, resource schema.GroupVersionResource, namespace string, most int,
	wanted func(namespace string) bool, f func(*unstructured.Unstructured) error,
) error {
	token := ""
	forPage := func(limit int, maxBytes int64) (size int, err error) {
		if maxBytes > pageBytes {
			if err := o.large.Acquire(ctx, 1); err != nil {
				return 0, err
			}
			defer o.large.Release(1)
		}
		raw, err := o.page(ctx, resource, namespace, url.Values{"limit": {strconv.Itoa(limit)}, "continue": {token}}, maxBytes)
		if err != nil {
			return 0, err
		}
		list, err := deepjson.ReadList(raw)
		if err != nil {
			return 0, err
		}
		if remaining := list.Metadata.RemainingItemCount; token == "" && most > 0 && remaining != nil && *remaining > int64(most) {
			return 0, errMore
		}
		for _, raw := range list.Items {
			if err := each(list, raw, wanted, f); err != nil {
				return 0, err
			}
		}
		token = list.Metadata.Continue
		return len(raw), nil
	}
	for limit, large := pageObjects, 0; ; {
		size, err := forPage(limit, pageBytes)
		if errors.Is(err, errLargePage) && limit > 1 {
			limit = max(1, limit/8)
			continue
		}
		if errors.Is(err, errLargePage) {
			if large++; large > maxLarge {
				return errManyLarge
			}
			if size, err = forPage(limit, objectBytes); errors.Is(err, errLargePage) {
				return fmt.Errorf("one of the objects has more than %d MiB", objectBytes>>20)
			}
		}
		if err != nil || token == "" {
			return err
		}
		if size < pageBytes/4 {
			limit = min(pageObjects, 2*limit)
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

var errLargePage = errors.New("the page is too large")

// page returns a page of a list, or errLargePage if it has more than maxBytes.
func (o *ObjectLister) page(ctx context.Context, resource schema.GroupVersionResource, namespace string, query url.Values, maxBytes int64) ([]byte, error) {
	path := []string{"api", resource.Version}
	if resource.Group != "" {
		path = []string{"apis", resource.Group, resource.Version}
	}
	request := o.client.Get().AbsPath(path...).NamespaceIfScoped(namespace, namespace != "").Resource(resource.Resource)
	for key, values := range query {
		request.Param(key, values[0])
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(body, maxBytes+1))
	if err == nil && int64(len(raw)) > maxBytes {
		err = errLargePage
	}
	return raw, err
}
