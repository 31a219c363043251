// Package serving serves the health, metrics and profiles of a process, and its API if it has one, and elects the replica
// that works.
package serving

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/sets"
	genericfilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/healthz"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes/scheme"
)

// Options are how health, metrics and profiles are served: over TLS, and all but health to authorized users only.
type Options struct {
	Secure         *genericoptions.SecureServingOptions
	Authentication *genericoptions.DelegatingAuthenticationOptions
	Authorization  *genericoptions.DelegatingAuthorizationOptions
	// Profiling serves Go's profiles too.
	Profiling bool
	// API, if there is one, serves what is below /apis. Paths reach it as they are.
	API http.Handler
}

// New returns the defaults of a process of that name.
func New(name string) Options {
	s := Options{
		Secure:         genericoptions.NewSecureServingOptions(),
		Authentication: genericoptions.NewDelegatingAuthenticationOptions(),
		// Health needs no rights, for the kubelet among others.
		Authorization: genericoptions.NewDelegatingAuthorizationOptions(),
	}
	s.Secure.BindPort = 8443
	// A self-signed certificate is kept in memory.
	s.Secure.ServerCert.CertDirectory, s.Secure.ServerCert.PairName = "", name
	// The process works even if no user can read metrics.
	s.Authentication.TolerateInClusterLookupFailure = true
	return s
}

// AddGenericFlags adds the flags that any secure port has.
func (s *Options) AddGenericFlags(fs *pflag.FlagSet) {
	s.Secure.AddFlags(fs)
	s.Authentication.AddFlags(fs)
	s.Authorization.AddFlags(fs)
}

// ValidateServing returns the errors in the flags.
func (s *Options) ValidateServing() []error {
	errs := append(s.Secure.Validate(), s.Authentication.Validate()...)
	return append(errs, s.Authorization.Validate()...)
}

// Serve serves health, metrics and, if enabled, profiles until the context ends. It closes the channel when all
// requests are answered. Users are authenticated and authorized by the server of the kubeconfig unless a flag names
// another one.
func (s *Options) Serve(ctx context.Context, kubeconfig string, live, ready []healthz.HealthChecker, metrics http.Handler) (<-chan struct{}, error) {
	if s.Authentication.RemoteKubeConfigFile == "" {
		s.Authentication.RemoteKubeConfigFile = kubeconfig
	}
	if s.Authorization.RemoteKubeConfigFile == "" {
		s.Authorization.RemoteKubeConfigFile = kubeconfig
	}
	if err := s.Secure.MaybeDefaultWithSelfSignedCerts("localhost", nil, nil); err != nil {
		return nil, fmt.Errorf("self-signed certificate: %w", err)
	}
	var secure *genericapiserver.SecureServingInfo
	var authentication genericapiserver.AuthenticationInfo
	var authorization genericapiserver.AuthorizationInfo
	if err := s.Secure.ApplyTo(&secure); err != nil {
		return nil, fmt.Errorf("--secure-port: %w", err)
	}
	if err := s.Authentication.ApplyTo(&authentication, secure, nil); err != nil {
		return nil, err
	}
	if err := s.Authorization.ApplyTo(&authorization); err != nil {
		return nil, err
	}

	mux := http.NewServeMux()
	healthz.InstallLivezHandler(mux, live...)
	healthz.InstallReadyzHandler(mux, ready...)
	mux.Handle("/metrics", metrics)
	if s.Profiling {
		profile(mux)
	}
	info := &request.RequestInfoFactory{APIPrefixes: sets.NewString("apis")}
	entry := newEntry(maxEntering)
	handler := genericfilters.WithAuthorization(entry.entered(s.withAPI(mux)), withDeadline(authorization.Authorizer), scheme.Codecs)
	if s.API != nil {
		handler = withoutAnonymous(handler, s.Authorization.AlwaysAllowPaths)
	}
	handler = entry.bounded(genericfilters.WithAuthentication(handler, authentication.Authenticator, genericfilters.Unauthorized(scheme.Codecs), nil, authentication.RequestHeaderConfig))
	handler = genericfilters.WithRequestInfo(handler, info)
	handler = genericfilters.WithCacheControl(handler)
	handler = filters.WithPanicRecovery(handler, info)
	stopped, _, err := secure.Serve(handler, time.Second, ctx.Done())
	return stopped, err
}

// withAPI returns a handler for the API, if there is one, and for everything else.
func (s *Options) withAPI(others http.Handler) http.Handler {
	if s.API == nil {
		return others
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/apis" || strings.HasPrefix(r.URL.Path, "/apis/") {
			s.API.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}
