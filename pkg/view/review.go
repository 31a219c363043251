package view

import (
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
)

var reviewKinds = map[string]string{
	"selfsubjectaccessreviews": "SelfSubjectAccessReview",
	"selfsubjectrulesreviews":  "SelfSubjectRulesReview",
	"subjectaccessreviews":     "SubjectAccessReview",
}

// serveReview answers what the caller or another user may do in the view. The question is asked as the caller:
//
//   - about a namespace of the view, as it is; about another one, nothing is allowed
//   - about all namespaces, in the root, whose permissions hold in the descendants where they are propagated
//   - about namespaces, as what the view does for such a request
func (h *Handler) serveReview(c *call) error {
	if c.info.Verb != "create" || len(c.info.Parts) != 1 {
		return methodNotAllowed(c)
	}
	if c.info.Resource == "selfsubjectreviews" {
		return h.forward(c)
	}
	body, err := c.readDecoded()
	if err != nil {
		return err
	}
	object, err := typed.Decode(body, authorizationv1.SchemeGroupVersion.WithKind(reviewKinds[c.info.Resource]), false)
	if err != nil {
		return err
	}
	var answer any
	switch review := object.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		review.TypeMeta = metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"}
		if asked := review.Spec.ResourceAttributes; asked != nil {
			why, err := h.mapAttributes(c, asked)
			if err != nil {
				return err
			}
			if why != "" {
				review.Status = authorizationv1.SubjectAccessReviewStatus{Reason: why}
				answer = review
			}
		}
	case *authorizationv1.SubjectAccessReview:
		if err := h.reviewSubject(c, review); err != nil {
			return err
		}
		answer = review
	case *authorizationv1.SelfSubjectRulesReview:
		review.TypeMeta = metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectRulesReview"}
		member, realName, err := h.member(c.r.Context(), review.Spec.Namespace)
		if err != nil {
			return err
		}
		if review.Spec.Namespace = realName; member == nil {
			answer = review
		}
	default:
		return apierrors.NewBadRequest("the body must be a review of " + c.info.Resource)
	}
	if answer != nil {
		writeJSON(c.w, http.StatusCreated, answer)
		return nil
	}
	if body, err = typed.Encode(object); err != nil {
		return err
	}
	c.r = c.r.Clone(c.r.Context())
	c.setBody(body, runtime.ContentTypeJSON)
	return h.forward(c)
}

// reviewSubject answers what any user may do, by a review in a namespace: callers may not review permissions in the
// cluster.
func (h *Handler) reviewSubject(c *call, review *authorizationv1.SubjectAccessReview) error {
	review.TypeMeta = metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"}
	local := &authorizationv1.LocalSubjectAccessReview{Spec: *review.Spec.DeepCopy()}
	asked := local.Spec.ResourceAttributes
	if asked == nil {
		review.Status = authorizationv1.SubjectAccessReviewStatus{Reason: "a view knows the permissions for resources only"}
		return nil
	}
	why, err := h.mapAttributes(c, asked)
	if err != nil {
		return err
	}
	if why == "" && asked.Namespace == "" {
		why = "it is not in a namespace, and a view knows the permissions in its namespaces only"
	}
	if why != "" {
		review.Status = authorizationv1.SubjectAccessReviewStatus{Reason: why}
		return nil
	}
	local.Namespace, local.Spec.User = asked.Namespace, h.Mapper.User(local.Spec.User)
	for i, group := range local.Spec.Groups {
		local.Spec.Groups[i] = h.Mapper.User(group)
	}
	clients, err := h.clients(c)
	if err != nil {
		return err
	}
	answer, err := clients.reviews.LocalSubjectAccessReviews(local.Namespace).Create(c.r.Context(), local, metav1.CreateOptions{DryRun: c.r.URL.Query()["dryRun"]})
	if err != nil {
		return h.shownError(err)
	}
	review.Status = answer.Status
	names := rbac.NewNames(h.Root)
	review.Status.Reason = h.Mapper.Message(names.Text(answer.Status.Reason))
	review.Status.EvaluationError = h.Mapper.Message(names.Text(answer.Status.EvaluationError))
	return nil
}

// mapAttributes changes a question about the view to one about the cluster. It returns why the answer is no, "" if
// kube-apiserver knows.
func (h *Handler) mapAttributes(c *call, asked *authorizationv1.ResourceAttributes) (why string, err error) {
	shown := asked.Group
	realGroup, ok := h.realGroup(shown)
	if !ok {
		return "the view has no such group", nil
	}
	asked.Group = realGroup
	if why, err = h.mapRealAttributes(c, asked); why != "" {
		asked.Group = shown
	}
	return why, err
}

// mapRealAttributes does so for a question about a group of the cluster.
func (h *Handler) mapRealAttributes(c *call, asked *authorizationv1.ResourceAttributes) (string, error) {
	resource := schema.GroupResource{Group: asked.Group, Resource: asked.Resource}
	if resource == namespaces {
		return h.mapNamespaceAttributes(c, asked)
	}
	if resource == definitions && asked.Namespace == "" {
		if !h.Mapper.Names().Relative() {
			return "it is not part of a view with real names", nil
		}
		asked.Group, asked.Version, asked.Resource, asked.Namespace = storedDefinitions.Group, storedDefinitions.Version, storedDefinitions.Resource, h.Root
		return "", nil
	}
	if asked.Namespace != "" {
		member, realName, err := h.member(c.r.Context(), asked.Namespace)
		if err != nil || member != nil {
			asked.Namespace = realName
			return "", err
		}
		return "the view has no such namespace", nil
	}
	switch {
	case !rbac.Serves(resource) || rules.Of(resource) != rules.Own:
	case asked.Resource == rbac.ClusterRoles && rbac.OfCluster(asked.Name):
		if !readVerbs.Has(asked.Verb) && asked.Verb != "bind" {
			return errReadOnly.Error(), nil
		}
		if asked.Verb == "bind" {
			asked.Namespace = h.Root
		}
		return "", nil
	default:
		asked.Resource, asked.Namespace = rbac.StoredResource(asked.Resource), h.Root
		if asked.Name != "" {
			asked.Name = rbac.NewNames(h.Root).Stored(asked.Name)
		}
		return "", nil
	}
	found, err := h.Kinds.findAny(c.r.Context(), resource)
	switch {
	case err != nil:
		return "", err
	case found == nil, found.namespaced:
		asked.Namespace = h.Root
		return "", nil
	case h.ruleOf(resource) == rules.Refuse, h.ruleOf(resource) == rules.ReadOnly && (asked.Subresource != "" || !readVerbs.Has(asked.Verb)):
		return "it is not part of a view", nil
	}
	return "", nil
}

func (h *Handler) mapNamespaceAttributes(c *call, asked *authorizationv1.ResourceAttributes) (string, error) {
	subnamespaces := hnc.Resource("subnamespaces")
	switch {
	case asked.Verb == "create":
		asked.Group, asked.Version, asked.Resource, asked.Namespace = subnamespaces.Group, "v1beta1", subnamespaces.Resource, h.Root
		return "", nil
	case asked.Name == "":
		asked.Group, asked.Version, asked.Namespace = hnc.ResourcesGroupName, hnc.ResourcesGroupVersion.Version, h.Root
		return "", nil
	}
	member, realName, err := h.member(c.r.Context(), asked.Name)
	switch {
	case err != nil:
		return "", err
	case member == nil:
		return "the view has no such namespace", nil
	case realName == h.Root && (asked.Verb == "delete" || member.Subnamespace && !readVerbs.Has(asked.Verb)):
		return "the view is of this namespace; change it in the cluster itself", nil
	case member.Subnamespace && !readVerbs.Has(asked.Verb):
		asked.Group, asked.Version, asked.Resource, asked.Namespace = subnamespaces.Group, "v1beta1", subnamespaces.Resource, member.Parent
	default:
		asked.Namespace = realName
	}
	asked.Name = realName
	return "", nil
}
