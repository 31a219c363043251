package subnamespace

import (
	"context"
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// creatorPeriod is for how long after the creation of a Subnamespace its requester can still get the role: what they
// were allowed then says less and less about what they may do now.
const creatorPeriod = time.Hour

// bindCreator gives the requester of a sub-namespace their role there, unless binding is nil. The namespace was created
// with an annotation that says that this is due, which is removed afterwards, and has no effect after creatorPeriod. So
// it happens once for each namespace, even if the process is interrupted, and a user who removes the binding later
// removes it for good. A namespace that somebody else has created meanwhile has no such annotation.
func (c *Controller) bindCreator(ctx context.Context, s *tree.Subnamespace, binding *rbacv1.RoleBinding) error {
	if binding == nil {
		return nil
	}
	live, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, s.Name, metav1.GetOptions{})
	if err == nil {
		if live.DeletionTimestamp != nil || live.Annotations[hnc.AnnotationCreatorPending] != string(s.UID) {
			return fmt.Errorf("%w: namespace %q is being deleted or was created again", outcome.ErrStale, s.Name)
		}
		_, err = c.Kubernetes.RbacV1().RoleBindings(binding.Namespace).Create(ctx, binding, metav1.CreateOptions{})
	}
	if apierrors.IsAlreadyExists(err) {
		err = nil
	}
	// The watch brings it: it is an ordinary source.
	return outcome.Record(c.Metrics, "RoleBinding", "create", binding.Namespace, err, nil)
}

// creatorPrefix precedes the namespace's name: with the same name everywhere, an ancestor's RoleBinding would replace a
// descendant's.
const creatorPrefix = "hns-creator-"

// creatorBinding returns the RoleBinding that gives the requester of a sub-namespace the creator's role there, nil if
// there is no such role or no requester, or the request is old. It is an ordinary source that is created once.
func creatorBinding(t *tree.Tree, s *tree.Subnamespace, now metav1.Time) *rbacv1.RoleBinding {
	if t.CreatorRole() == "" || s.Requester == "" || now.Sub(s.Created.Time) > creatorPeriod {
		return nil
	}
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: creatorPrefix + s.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: t.CreatorRole()},
		Subjects:   []rbacv1.Subject{subject(s.Requester)},
	}
}

// subject returns the RBAC subject of a user name.
func subject(user string) rbacv1.Subject {
	if namespace, name, err := serviceaccount.SplitUsername(user); err == nil {
		return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
	}
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}
}
