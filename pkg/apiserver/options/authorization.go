package options

import (
	"fmt"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/path"
	"k8s.io/apiserver/pkg/authorization/union"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver/forwarded"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
)

// authorizeRequests sets the authorizer of requests. Requests that kube-apiserver forwards are authorized already,
// unless --review-forwarded-requests is set.
func (o *Options) authorizeRequests(generic *genericapiserver.RecommendedConfig, reviews authorizer.Authorizer) (err error) {
	generic.Authorization.Authorizer = reviews
	proxy := generic.Authentication.RequestHeaderConfig
	if o.ReviewForwarded || proxy == nil {
		return nil
	}
	generic.Authentication.Authenticator = forwarded.Authenticator(proxy, generic.Authentication.Authenticator)
	generic.Authorization.Authorizer, err = union.New(
		union.NamedAuthorizer{AuthorizerName: "hnc.x-k8s.io/forwarded", Authorizer: forwarded.Authorizer()},
		union.NamedAuthorizer{AuthorizerName: "hnc.x-k8s.io/reviews", Authorizer: reviews},
	)
	return err
}

// delegatingAuthorizer returns the authorizer of the options without their limit of 200 reviews per second. Each write
// needs reviews in the namespaces that it affects, and would wait for that limit; the priority and fairness of
// kube-apiserver limits reviews. It reads namespaces when it is used.
func delegatingAuthorizer(o *genericoptions.DelegatingAuthorizationOptions, present *namespaces) (authorizer.Authorizer, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.RemoteKubeConfigFile)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig for delegated authorization: %w", err)
	}
	config.QPS, config.Timeout = -1, o.ClientTimeout
	client, err := kubernetes.NewForConfig(clientconfig.Protobuf(config))
	if err != nil {
		return nil, err
	}
	reviews := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(),
		AllowCacheTTL:             o.AllowCacheTTL,
		DenyCacheTTL:              o.DenyCacheTTL,
		WebhookRetryBackoff:       o.WebhookRetryBackoff,
	}
	delegated, err := reviews.New()
	if err != nil {
		return nil, err
	}
	paths, err := path.NewAuthorizer(o.AlwaysAllowPaths)
	if err != nil {
		return nil, err
	}
	return union.New(
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/always-allow-groups", Authorizer: authorizerfactory.NewPrivilegedGroups(o.AlwaysAllowGroups...)},
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/always-allow-paths", Authorizer: paths},
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/webhook", Authorizer: withoutLargeSelectors(withNamespaceUIDs(delegated, present))},
	)
}
