// Package forwarded distinguishes requests that kube-apiserver forwards from direct requests. kube-apiserver has
// authorized what it forwards, with the same attributes and all of its authorizers; a review would cost each write a
// second request. This trusts no more than request-header authentication does: a client that authenticates as the front
// proxy may name any user and group, system:masters included.
//
// Only the request itself counts as authorized. Other permissions, such as those in other namespaces, are always
// reviewed.
package forwarded

import (
	"context"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/utils/lru"
)

// requester is the user of a request that kube-apiserver has forwarded. Impersonation replaces it by another user.Info.
type requester struct{ user.Info }

// Authenticator marks the users of requests from the front proxy, and leaves all other requests to others.
func Authenticator(proxy *authenticatorfactory.RequestHeaderConfig, others authenticator.Request) authenticator.Request {
	named := group.NewAuthenticatedGroupAdder(headerrequest.NewDynamic(
		proxy.UsernameHeaders, proxy.UIDHeaders, proxy.GroupHeaders, proxy.ExtraHeaderPrefixes))
	verified := group.NewAuthenticatedGroupAdder(headerrequest.NewDynamicVerifyOptionsSecure(proxy.CAContentProvider.VerifyOptions,
		proxy.AllowedClientNames, proxy.UsernameHeaders, proxy.UIDHeaders, proxy.GroupHeaders, proxy.ExtraHeaderPrefixes))
	known := connections{lru.New(maxConnections)}
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		header := verified
		if known.has(r) {
			header = named
		}
		response, ok, err := header.AuthenticateRequest(r)
		if err != nil || !ok {
			return others.AuthenticateRequest(r)
		}
		known.verified(r)
		marked := *response
		marked.User = requester{response.User}
		return &marked, true, nil
	})
}

type changedKey struct{}

// Changed returns the context of a request that differs from what kube-apiserver has authorized.
func Changed(ctx context.Context) context.Context { return context.WithValue(ctx, changedKey{}, true) }

// Authorizer allows what kube-apiserver has authorized and forwarded, and has no opinion on anything else.
func Authorizer() authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		if _, ok := attributes.GetUser().(requester); !ok || ctx.Value(changedKey{}) != nil || !attributes.IsResourceRequest() {
			return authorizer.DecisionNoOpinion, "", nil
		}
		request, err := filters.GetAuthorizerAttributes(ctx)
		if err != nil {
			return authorizer.DecisionNoOpinion, "", err
		}
		if !same(attributes, request) {
			return authorizer.DecisionNoOpinion, "", nil
		}
		return authorizer.DecisionAllow, "kube-apiserver has authorized the request", nil
	})
}

// same reports whether the attributes are those of the request.
func same(attributes, request authorizer.Attributes) bool {
	return attributes.GetVerb() == request.GetVerb() && attributes.GetAPIGroup() == request.GetAPIGroup() && attributes.GetAPIVersion() == request.GetAPIVersion() &&
		attributes.GetResource() == request.GetResource() && attributes.GetSubresource() == request.GetSubresource() &&
		attributes.GetNamespace() == request.GetNamespace() && attributes.GetName() == request.GetName() && attributes.GetPath() == request.GetPath() &&
		attributes.GetUser() == request.GetUser()
}
