package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/besidehnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
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

// check returns an error for writes while HNC serves the cluster and no migration is under way. Dry runs pass.
func (o *readOnly) check(r *http.Request) error {
	ctx := r.Context()
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	if !ok || info.APIGroup != hnc.GroupName || info.Subresource != "" || !slices.Contains([]string{"create", "update", "patch"}, info.Verb) ||
		r.URL.Query().Has("dryRun") || accessreview.ByPropagator(ctx) {
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
