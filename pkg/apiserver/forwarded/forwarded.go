// Package forwarded tells requests that kube-apiserver forwards from those that come straight to the server. What kube-apiserver forwards it has
// authorized, by the same attributes and with all of its authorizers; to ask it once more would cost each write a second request. Nothing
// is trusted that was not trusted before: who can authenticate as the front proxy can name any user, system:masters among them.
//
// Only the request itself counts as authorized. What a registry asks beside it, such as rights in another namespace, is always reviewed.
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

// requester is a user for whom kube-apiserver has forwarded a request. An impersonated user is none: that is another user.Info.
type requester struct{ user.Info }

// Authenticator remembers of users whether the front proxy speaks for them; everybody else is left to others.
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

// Changed returns a context for a request that is not any more what kube-apiserver has authorized.
func Changed(ctx context.Context) context.Context { return context.WithValue(ctx, changedKey{}, true) }

// Authorizer allows what kube-apiserver has authorized and forwarded, and has no opinion about anything else.
func Authorizer() authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
		if _, ok := asked.GetUser().(requester); !ok || ctx.Value(changedKey{}) != nil || !asked.IsResourceRequest() {
			return authorizer.DecisionNoOpinion, "", nil
		}
		request, err := filters.GetAuthorizerAttributes(ctx)
		if err != nil {
			return authorizer.DecisionNoOpinion, "", err
		}
		if !same(asked, request) {
			return authorizer.DecisionNoOpinion, "", nil
		}
		return authorizer.DecisionAllow, "kube-apiserver has authorized the request", nil
	})
}

// same says whether the attributes are those of the request.
func same(asked, request authorizer.Attributes) bool {
	return asked.GetVerb() == request.GetVerb() && asked.GetAPIGroup() == request.GetAPIGroup() && asked.GetAPIVersion() == request.GetAPIVersion() &&
		asked.GetResource() == request.GetResource() && asked.GetSubresource() == request.GetSubresource() &&
		asked.GetNamespace() == request.GetNamespace() && asked.GetName() == request.GetName() && asked.GetPath() == request.GetPath() &&
		asked.GetUser() == request.GetUser()
}
