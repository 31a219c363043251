package viewdefinition

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// creators returns who has created ViewDefinitions and may still create them in the namespace: users who may do so
// themselves, and otherwise those of their groups that may. A user may have left a group since, and one of its members
// could create a ViewDefinition anyway.
func (c *Controller) creators(ctx context.Context, namespace string, definitions []*v1alpha3.ViewDefinition) ([]rbacv1.Subject, error) {
	reviewed := map[rbacv1.Subject]bool{}
	allowed := func(subject rbacv1.Subject) (bool, error) {
		if answer, known := reviewed[subject]; known {
			return answer, nil
		}
		answer, err := c.mayDefine(ctx, namespace, subject)
		if err == nil {
			reviewed[subject] = answer
		}
		return answer, err
	}
	for _, v := range definitions {
		var groups []string
		name, encoded := v.Annotations[hnc.AnnotationRequester], v.Annotations[hnc.AnnotationRequesterGroups]
		if name == "" || encoded != "" && json.Unmarshal([]byte(encoded), &groups) != nil {
			continue // Only the server writes them.
		}
		itself, err := allowed(rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name})
		if err != nil {
			return nil, err
		}
		for _, group := range groups {
			if itself || strings.HasPrefix(group, "system:") {
				continue
			}
			if _, err := allowed(rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: group}); err != nil {
				return nil, err
			}
		}
	}
	subjects := []rbacv1.Subject{}
	for subject, answer := range reviewed {
		if answer {
			subjects = append(subjects, subject)
		}
	}
	slices.SortFunc(subjects, func(a, b rbacv1.Subject) int { return strings.Compare(a.Kind+"/"+a.Name, b.Kind+"/"+b.Name) })
	return subjects, nil
}

// mayDefine reports whether a user, without the groups that somebody else decides about, or a group may create
// ViewDefinitions in a namespace.
func (c *Controller) mayDefine(ctx context.Context, namespace string, subject rbacv1.Subject) (bool, error) {
	spec := authorizationv1.SubjectAccessReviewSpec{
		Groups:             []string{user.AllAuthenticated},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "create", Group: hnc.GroupName, Version: "*", Resource: "viewdefinitions"},
	}
	if subject.Kind == rbacv1.GroupKind {
		spec.Groups = append(spec.Groups, subject.Name)
	} else {
		spec.User = subject.Name
		if of, _, err := serviceaccount.SplitUsername(subject.Name); err == nil {
			spec.Groups = append(spec.Groups, serviceaccount.MakeGroupNames(of)...)
		}
	}
	answer, err := c.Kubernetes.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}
