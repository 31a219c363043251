package apiserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/selectors"
)

// checkPath returns an error for requests whose path has a name that no object can have, such as "..", or whose query
// has no valid version, for which stores would report an internal error, a large selector, or a long field manager, of
// which the generic validation reports each character with all others.
func checkPath(r *http.Request) error {
	info, ok := genericapirequest.RequestInfoFrom(r.Context())
	if !ok || !info.IsResourceRequest {
		return nil
	}
	if err := invalidPathName(r.URL.Path, info); err != nil {
		return err
	}
	query := r.URL.Query()
	if err := invalidVersion(query.Get("resourceVersion"), info); err != nil {
		return err
	}
	if n := len(query.Get("fieldManager")); n > metav1validation.FieldManagerMaxLength {
		return apierrors.NewBadRequest(fmt.Sprintf("fieldManager: has %d bytes, and may have %d; shorten it", n, metav1validation.FieldManagerMaxLength))
	}
	return largeSelector(query, info)
}

// invalidVersion rejects versions that are not numbers, as kube-apiserver does for lists. Watches would report an
// internal error. The storage of mynamespaces checks its versions itself.
func invalidVersion(version string, info *genericapirequest.RequestInfo) error {
	if version == "" || info.APIGroup != v1beta1.GroupName || info.Resource == "mynamespaces" {
		return nil
	}
	if _, err := strconv.ParseUint(version, 10, 64); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: %q is not a version; use that of a list or of an event", version))
	}
	return nil
}

// largeSelector rejects selectors with more keys and values than they may have: a watch compares them with each change,
// while others wait.
func largeSelector(query url.Values, info *genericapirequest.RequestInfo) error {
	if info.APIGroup != v1beta1.GroupName || info.Verb != "watch" && !listVerbs.Has(info.Verb) {
		return nil
	}
	var options internalversion.ListOptions
	if err := internalscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, &options); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return selectors.Validate(&options)
}

func invalidPathName(path string, info *genericapirequest.RequestInfo) error {
	if strings.Contains(path, "//") {
		return apierrors.NewBadRequest("the path must not have empty segments; name the namespace and the object")
	}
	for _, name := range []struct{ of, value string }{{"namespace", info.Namespace}, {"object", info.Name}} {
		if problems := content.IsPathSegmentName(name.value); len(problems) > 0 {
			return apierrors.NewBadRequest(fmt.Sprintf("the name %q of the %s in the path is invalid: %s", name.value, name.of, strings.Join(problems, "; ")))
		}
	}
	return nil
}
