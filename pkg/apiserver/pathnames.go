package apiserver

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// withPathNames rejects requests whose path has a name that no object can have, such as "..". Stores would report an internal error.
func withPathNames(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if info, ok := genericapirequest.RequestInfoFrom(r.Context()); ok && info.IsResourceRequest {
				if err := invalidPathName(r.URL.Path, info); err != nil {
					responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
					return
				}
			}
			api.ServeHTTP(w, r)
		}), config)
	}
}

func invalidPathName(url string, info *genericapirequest.RequestInfo) error {
	if strings.Contains(url, "//") {
		return apierrors.NewBadRequest("the path must not have empty segments; name the namespace and the object")
	}
	for _, name := range []struct{ of, value string }{{"namespace", info.Namespace}, {"object", info.Name}} {
		if problems := content.IsPathSegmentName(name.value); len(problems) > 0 {
			return apierrors.NewBadRequest(fmt.Sprintf("the name %q of the %s in the path is invalid: %s", name.value, name.of, strings.Join(problems, "; ")))
		}
	}
	return nil
}
