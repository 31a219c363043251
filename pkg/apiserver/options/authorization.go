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

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver/forwarded"
)

// authorizeRequests has requests authorized: those that kube-apiserver forwards are already, unless the options say otherwise.
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

// delegating returns the authorizer that the options describe, without their limit of 200 reviews a second: rights are asked for in each namespace
// that is written to, and writes would wait for that limit rather than for kube-apiserver, whose priority and fairness is the throttle.
func delegating(o *genericoptions.DelegatingAuthorizationOptions) (authorizer.Authorizer, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.RemoteKubeConfigFile)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig for delegated authorization: %w", err)
	}
	config.QPS, config.Timeout = -1, o.ClientTimeout
	client, err := kubernetes.NewForConfig(apiserver.InProtobuf(config))
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
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/webhook", Authorizer: delegated},
	)
}
