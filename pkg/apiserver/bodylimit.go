package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/reviews"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

const (
	// maxPlanBody is the maximum size of the body of a plan in bytes. The largest valid one has about half that size.
	maxPlanBody = 128 << 10
	// maxStrategicPatch is that of a strategic merge patch: the library compares each item of a list with each other,
	// and goes on when the request has timed out.
	maxStrategicPatch = 128 << 10
	// maxProtobuf is that of a body in protobuf, which only deletions accept: two bytes can become some hundred when they
	// are decoded.
	maxProtobuf = 16 << 10
	// maxRequestBody is what the server accepts of any other.
	maxRequestBody = 3 << 20
	// maxHierarchyValues is the number of values of a hierarchy in JSON, whose status lists its children. Two bytes, a
	// value in the wrong place included, can become an entry of managed fields, of a hundred bytes.
	maxHierarchyValues = 96 << 10
	// maxPatchValues is the number of values of a JSON patch, which can become items of any list, one by one.
	maxPatchValues = 8 << 10
	// maxItems is the number of items of lists that handlers process before the limits of metadata and of spec apply:
	// they compare owner references with each other, and convert the stored object for each entry of managed fields.
	maxItems = 256
	// maxCopied is how many bytes all copies of a JSON patch may add up to. Each can become as large as in a body.
	maxCopied = 64 << 10
)

// bodyLimit returns the size of the largest body that a request may have, and what to say of a larger one.
func bodyLimit(info *genericapirequest.RequestInfo, mediaType string) (limit int, message string) {
	switch {
	case info.Subresource == "plan":
		return maxPlanBody, fmt.Sprintf("a plan has at most %d bytes", maxPlanBody)
	case mediaType == string(types.StrategicMergePatchType):
		return maxStrategicPatch, fmt.Sprintf("a strategic merge patch has at most %d bytes; send a merge patch (%s)", maxStrategicPatch, types.MergePatchType)
	case mediaType == runtime.ContentTypeProtobuf:
		return maxProtobuf, fmt.Sprintf("a body in protobuf has at most %d bytes; send JSON", maxProtobuf)
	}
	return maxRequestBody, fmt.Sprintf("limit is %d", maxRequestBody)
}

// checkValues returns an error if a body has more values or levels than may be decoded. The kind that a body or a patch
// states is decoded before it is compared with that of the resource: it may be a list, whose items have some hundred bytes
// each.
func checkValues(info *genericapirequest.RequestInfo, mediaType string, body []byte) error {
	switch {
	case isYAML(mediaType):
		return yamlbody.Check(body)
	case mediaType == runtime.ContentTypeProtobuf:
		return nil // Its size is limited.
	}
	if yamlbody.Levels(body) > yamlbody.MaxLevels {
		return yamlbody.ErrLevels
	}
	values := yamlbody.Values(body, true)
	if mediaType == string(types.JSONPatchType) && values > maxPatchValues {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("a JSON patch may have at most %d values; send a merge patch (%s)", maxPatchValues, types.MergePatchType))
	}
	if values <= yamlbody.MaxValues || values <= maxHierarchyValues && isHierarchy(info, body) {
		return nil
	}
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the body may have at most %d values, and %d if it is a whole hierarchy", yamlbody.MaxValues, maxHierarchyValues))
}

// items is the number of items of a list in JSON, added up if its field is repeated.
type items int

// UnmarshalJSON implements json.Unmarshaler.
func (n *items) UnmarshalJSON(text []byte) error {
	var list []struct{}
	_ = json.Unmarshal(text, &list) // It also has the length of a list of other values.
	*n += items(len(list))
	return nil
}

// checkItems returns an error if a list in a body of an object, or a patch of its form, has more than maxItems items.
// Names of fields match in any case.
func checkItems(info *genericapirequest.RequestInfo, mediaType string, body []byte) error {
	if isYAML(mediaType) && !json.Valid(body) {
		var err error
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return apierrors.NewBadRequest("malformed YAML: " + err.Error())
		}
	}
	var object struct {
		Metadata struct {
			OwnerReferences, Finalizers, ManagedFields items
			// Directives of strategic merge patches, which are compared with the lists.
			OrderOfOwners     items `json:"$setElementOrder/ownerReferences"`
			OrderOfFinalizers items `json:"$setElementOrder/finalizers"`
			DeletedFinalizers items `json:"$deleteFromPrimitiveList/finalizers"`
		}
		Spec struct{ RequiredChildren items }
	}
	_ = json.Unmarshal(body, &object) // Handlers reject what is malformed, and values of a wrong type end nothing here.
	m := object.Metadata
	var errs field.ErrorList
	for _, list := range []struct {
		path  *field.Path
		items items
	}{
		{field.NewPath("metadata", "ownerReferences"), m.OwnerReferences + m.OrderOfOwners},
		{field.NewPath("metadata", "finalizers"), m.Finalizers + m.OrderOfFinalizers + m.DeletedFinalizers},
		{field.NewPath("metadata", "managedFields"), m.ManagedFields},
		{field.NewPath("spec", "requiredChildren"), object.Spec.RequiredChildren},
	} {
		if list.items > maxItems {
			errs = append(errs, field.TooMany(list.path, int(list.items), maxItems))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: info.APIGroup, Kind: info.Resource}, info.Name, errs)
}

// isHierarchy reports whether a body in JSON is decoded as a hierarchy.
func isHierarchy(info *genericapirequest.RequestInfo, body []byte) bool {
	if storedResource(hnc.Resource(info.Resource)) != hnc.Resource("hierarchies") || info.Subresource == "plan" || info.Verb != "create" && info.Verb != "update" {
		return false
	}
	kind, err := jsonserializer.DefaultMetaFactory.Interpret(body)
	return err == nil && (kind.Kind == "" || kind.Kind == "Hierarchy" || kind.Kind == "HierarchyConfiguration")
}

func isYAML(mediaType string) bool {
	return mediaType == runtime.ContentTypeYAML || mediaType == string(types.ApplyYAMLPatchType)
}

// contentType returns the media type of a request's body, "" if it has none. It rejects those that cannot be parsed:
// the handlers of patches take what is before the first semicolon, so that no limit would apply.
func contentType(r *http.Request) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return "", nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil {
		return "", &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType,
			Reason: metav1.StatusReasonUnsupportedMediaType, Message: fmt.Sprintf("header Content-Type is malformed: %v", err)}}
	}
	return mediaType, nil
}

// checkBody returns an error if the body of a request costs too much to decode or to apply. Otherwise it is in memory.
func checkBody(r *http.Request) error {
	info, ok := genericapirequest.RequestInfoFrom(r.Context())
	// Reviews of ResourceQuotas are from kube-apiserver, and have a limit of their own.
	if !ok || r.Body == nil || r.Method == http.MethodGet || r.Method == http.MethodHead || info.Resource == reviews.Resource {
		return nil
	}
	mediaType, err := contentType(r)
	if err != nil {
		return err
	}
	limit, message := bodyLimit(info, mediaType)
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	if err == nil && len(body) > limit {
		err = apierrors.NewRequestEntityTooLargeError(message)
	}
	// The propagator is trusted: its statuses are large.
	if err == nil && !accessreview.ByPropagator(r.Context()) {
		if err = checkValues(info, mediaType, body); err == nil {
			err = checkItems(info, mediaType, body)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}
