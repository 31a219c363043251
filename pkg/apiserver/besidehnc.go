package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/besidehnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/review"
)

// readOnly makes the server serve only reads while HNC serves the cluster: HNC does not see what would be written here,
// and it would take effect after the migration. A migration writes when its policy is in force, which then decides who
// may write. Deletions pass, so that namespaces can be deleted.
type readOnly struct {
	namespaces corelisters.NamespaceLister
	kubernetes kubernetes.Interface
	metadata   metadata.Interface
}

var errBesideHNC = errors.New("HNC serves the hierarchies of this cluster, and does not see what is written here: use HNC's plugin, or its version v1alpha2, " +
	"until kubectl hns migrate has moved them")

// check returns an error for writes while HNC serves the cluster and no migration is under way.
func (o *readOnly) check(ctx context.Context, info *genericapirequest.RequestInfo) error {
	if info.APIGroup != hnc.GroupName || info.Subresource != "" || !slices.Contains([]string{"create", "update", "patch"}, info.Verb) || review.ByPropagator(ctx) {
		return nil
	}
	system, err := o.namespaces.Get(hnc.SystemNamespace)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	beside, err := besidehnc.Serves(ctx, system, o.metadata)
	if err != nil || !beside {
		return unknownServer(err)
	}
	migrating, err := o.kubernetes.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + hnc.MigrationPolicy})
	if err != nil || len(migrating.Items) > 0 {
		return unknownServer(err)
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}, info.Name, errBesideHNC)
}

func unknownServer(err error) error {
	if err == nil {
		return nil
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("it is not known whether HNC serves this cluster: %v; try again", err))
}

// withReadOnly rejects writes while HNC serves the cluster. Dry runs pass.
func withReadOnly(build handlerChain, o *readOnly, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if info, ok := genericapirequest.RequestInfoFrom(r.Context()); ok && info.IsResourceRequest && !r.URL.Query().Has("dryRun") {
				if err := o.check(r.Context(), info); err != nil {
					responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
					return
				}
			}
			api.ServeHTTP(w, r)
		}), config)
	}
}
