package options

import (
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
)

// applyRecommended applies the options in the order of RecommendedOptions.ApplyTo, with another authorizer and informer
// factory: those of ApplyTo have a rate limit on the client's side, and read JSON. It returns the authorizer for
// reviews.
func (o *Options) applyRecommended(generic *genericapiserver.RecommendedConfig) (authorizer.Authorizer, error) {
	r, c, present := o.Recommended, &generic.Config, &namespaces{}
	reviews, err := delegatingAuthorizer(r.Authorization, present)
	if err != nil {
		return nil, err
	}
	for _, apply := range []func() error{
		func() error { return r.Etcd.ApplyTo(c) },
		func() error { return r.EgressSelector.ApplyTo(c) },
		func() error { return r.Traces.ApplyTo(c.EgressSelector, c) },
		func() error { return r.SecureServing.ApplyToConfig(c) },
		func() error { return r.Authentication.ApplyTo(&c.Authentication, c.SecureServing, c.OpenAPIConfig) },
		func() error { return o.authorizeRequests(generic, reviews) },
		func() error { return r.Audit.ApplyTo(c) },
		func() error { return r.CoreAPI.ApplyTo(generic) },
	} {
		if err := apply(); err != nil {
			return nil, err
		}
	}
	clientconfig.SetDefaults(generic.ClientConfig)
	client, err := kubernetes.NewForConfig(clientconfig.Protobuf(generic.ClientConfig))
	if err != nil {
		return nil, err
	}
	untyped, err := dynamic.NewForConfig(generic.ClientConfig)
	if err != nil {
		return nil, err
	}
	generic.SharedInformerFactory = informers.NewSharedInformerFactory(client, 0)
	*present = namespaces{generic.SharedInformerFactory.Core().V1().Namespaces().Lister(), client.CoreV1()}
	if err := r.Features.ApplyTo(c, client, generic.SharedInformerFactory); err != nil {
		return nil, err
	}
	return reviews, r.Admission.ApplyTo(c, generic.SharedInformerFactory, client, untyped, r.FeatureGate, c.EffectiveVersion)
}
