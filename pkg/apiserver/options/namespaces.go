package options

import (
	"context"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// extraNamespaceUID is the key of the UID of the namespace among the extra values of the user of a review.
const extraNamespaceUID = hnc.GroupName + "/namespace-uid"

// namespaces reads the namespaces of the cluster.
type namespaces struct {
	lister corelisters.NamespaceLister
	client corev1client.NamespacesGetter
}

// uid returns the UID of a namespace, "" if there is none. It reads the cluster if the cache does not contain the
// namespace, or contains one that is being deleted, whose name another one may have by now.
func (n *namespaces) uid(ctx context.Context, name string) (types.UID, error) {
	namespace, err := n.lister.Get(name)
	if err != nil || namespace.DeletionTimestamp != nil {
		namespace, err = n.client.Namespaces().Get(ctx, name, metav1.GetOptions{})
	}
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return namespace.UID, nil
}

// withNamespaceUIDs has requests in a namespace reviewed with its UID. Reviews are cached by their text, and nobody who
// was allowed something in a namespace is allowed it in a later one of that name.
func withNamespaceUIDs(reviews authorizer.Authorizer, present *namespaces) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetNamespace() == "" {
			return reviews.Authorize(ctx, a)
		}
		uid, err := present.uid(ctx, a.GetNamespace())
		if err != nil {
			return authorizer.DecisionNoOpinion, "", err
		}
		return reviews.Authorize(ctx, withNamespaceUID{a, uid})
	})
}

// withNamespaceUID are the attributes of a request in a namespace with this UID.
type withNamespaceUID struct {
	authorizer.Attributes
	uid types.UID
}

// GetUser implements authorizer.Attributes.
func (a withNamespaceUID) GetUser() user.Info {
	u := a.Attributes.GetUser()
	extra := map[string][]string{}
	maps.Copy(extra, u.GetExtra())
	extra[extraNamespaceUID] = []string{string(a.uid)}
	return &user.DefaultInfo{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: extra}
}
