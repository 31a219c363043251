package view

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

var readVerbs = sets.New("get", "list", "watch")

// ruleOf returns the rule of a cluster-scoped kind in the view.
func (h *Handler) ruleOf(resource schema.GroupResource) rules.Rule {
	if h.projected.kinds.Has(resource) {
		return rules.ReadOnly
	}
	return rules.Of(resource)
}

// servedVerbs returns those verbs of a kind that the view serves, nil if it does not serve the kind.
func (h *Handler) servedVerbs(resource schema.GroupResource, namespaced bool, verbs []string) []string {
	if rules.RefusedGroup(resource.Group) || resource == definitions && !h.Mapper.Names().Relative() {
		return nil
	}
	if namespaced {
		return verbs
	}
	var except sets.Set[string]
	switch h.ruleOf(resource) {
	case rules.Refuse:
		return nil
	case rules.ReadOnly:
		except = sets.New("create", "update", "patch", "delete", "deletecollection")
	case rules.Own:
		except = sets.New("deletecollection")
	}
	served := make([]string, 0, len(verbs))
	for _, verb := range verbs {
		if !except.Has(verb) {
			served = append(served, verb)
		}
	}
	return served
}

var errReadOnly = errors.New("a view shows it as the cluster has it, and only administrators of the cluster can change it")

// refused is the response to a request for a kind that views do not serve.
func refused(resource schema.GroupResource) error {
	return apierrors.NewForbidden(resource, "", fmt.Errorf("it applies to the whole cluster, and is not part of a view: %s", rules.Instead(resource)))
}

// noNamespace is the response to all requests for a namespace that the view does not have.
func noNamespace(name string) error { return apierrors.NewNotFound(namespaces, name) }

// notFound is the response to a request for a path that nothing serves.
func notFound(c *call) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource",
		Details: &metav1.StatusDetails{Group: c.info.APIGroup, Kind: c.info.Resource, Name: c.info.Name},
	}}
}

// methodNotAllowed is the response to a verb that a resource does not have.
func methodNotAllowed(c *call) error {
	return apierrors.NewMethodNotSupported(schema.GroupResource{Group: c.info.APIGroup, Resource: c.info.Resource}, c.info.Verb)
}
