// Package serving serves the health, metrics and profiles of a process, and its API if it has one, and elects the
// replica that works.
package serving

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authorization/path"
	genericfilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/healthz"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/requestsize"
)

// Options are how health, metrics and profiles are served: over TLS, and all but health to authorized users only.
type Options struct {
	Secure         *genericoptions.SecureServingOptions
	Authentication *genericoptions.DelegatingAuthenticationOptions
	Authorization  *genericoptions.DelegatingAuthorizationOptions
	// Profiling serves Go's profiles too.
	Profiling bool
	// API, if there is one, serves what is below /apis: resources to authorized users, and discovery to all who are
	// authenticated. Paths reach it as they are.
	API http.Handler
	// ShutdownDelay is how long an API is served after the process has been told to stop, while it is not ready any
	// more.
	ShutdownDelay time.Duration
}

// What is answered when the port is closed is awaited as long: metrics, and requests of an API, whose pods the kubelet
// kills after 30 s.
const patience, patienceOfAPI = time.Second, 20 * time.Second

// New returns the defaults of a process of that name.
func New(name string) Options {
	s := Options{
		Secure:         genericoptions.NewSecureServingOptions(),
		Authentication: genericoptions.NewDelegatingAuthenticationOptions(),
		// Health needs no permissions, for the kubelet among others.
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

// Serving is what Serve has begun. Closed is closed when no more connections are accepted, Served when all requests are
// answered.
type Serving struct{ Closed, Served <-chan struct{} }

// Serve serves health, metrics and, if enabled, profiles and an API until the context ends. Users are authenticated and
// authorized by the server of the kubeconfig unless a flag names another one.
func (s *Options) Serve(ctx context.Context, kubeconfig string, live, ready []healthz.HealthChecker, metrics http.Handler) (*Serving, error) {
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
	ready = append(ready, stopping(ctx))
	if proxies := authentication.RequestHeaderConfig; s.API != nil && proxies != nil {
		ready = append(ready, known(proxies.CAContentProvider))
	}
	healthz.InstallReadyzHandler(mux, ready...)
	mux.Handle("/metrics", metrics)
	if s.Profiling {
		profile(mux)
	}
	info := withoutQuery{&request.RequestInfoFactory{APIPrefixes: sets.NewString("apis")}}
	open, err := path.NewAuthorizer(s.Authorization.AlwaysAllowPaths)
	if err != nil {
		return nil, err
	}
	entry := newEntry(maxEntering, maxEnteringOfUser, s.Authorization.AlwaysAllowPaths)
	authentication.Authenticator = entry.tokens.Authenticator(authentication.Authenticator)
	handler := entry.shared(genericfilters.WithAuthorization(entry.entered(s.withAPI(mux)), withDeadline(authorization.Authorizer), scheme.Codecs))
	handler = s.withDiscovery(handler)
	until, awaited := ctx.Done(), patience
	if s.API != nil {
		until, awaited = after(ctx, s.ShutdownDelay), patienceOfAPI
	}
	handler = withoutAnonymous(handler, open)
	handler = entry.bounded(genericfilters.WithAuthentication(handler, authentication.Authenticator, genericfilters.Unauthorized(scheme.Codecs), nil, authentication.RequestHeaderConfig))
	handler = genericfilters.WithRequestInfo(handler, info)
	handler = genericfilters.WithCacheControl(handler)
	handler = s.withSizes(handler)
	handler = filters.WithPanicRecovery(handler, info)
	served, closed, err := secure.Serve(handler, awaited, until)
	return &Serving{closed, served}, err
}

// withoutQuery tells what a request is for by its path. A query that cannot be parsed would be logged, whoever sends
// it.
type withoutQuery struct{ paths *request.RequestInfoFactory }

// NewRequestInfo implements request.RequestInfoResolver.
func (w withoutQuery) NewRequestInfo(r *http.Request) (*request.RequestInfo, error) {
	bare := *r
	bare.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath}
	return w.paths.NewRequestInfo(&bare)
}

// after returns what is closed some time after the end of the context.
func after(ctx context.Context, delay time.Duration) <-chan struct{} {
	done := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, func() { close(done) }) })
	return done
}

// known fails until an authority has been read. Until then, whoever has a certificate of it is taken for anonymous.
func known(authority dynamiccertificates.CAContentProvider) healthz.HealthChecker {
	return healthz.NamedCheck("client-ca", func(*http.Request) error {
		if _, ok := authority.VerifyOptions(); !ok {
			return errors.New("the certificate authority of kube-apiserver's requests has not been read yet")
		}
		return nil
	})
}

// stopping fails when the context has ended.
func stopping(ctx context.Context) healthz.HealthChecker {
	return healthz.NamedCheck("shutdown", func(*http.Request) error {
		if ctx.Err() != nil {
			return errors.New("the process is shutting down")
		}
		return nil
	})
}

// withAPI returns a handler for the API, if there is one, and for everything else.
func (s *Options) withAPI(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.ofAPI(r) {
			s.API.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// ofAPI reports whether a request is one for the API.
func (s *Options) ofAPI(r *http.Request) bool {
	return s.API != nil && (r.URL.Path == "/apis" || strings.HasPrefix(r.URL.Path, "/apis/"))
}

// withDiscovery serves the API's discovery to all who are authenticated, without a review that others would wait for:
// kube-apiserver takes an API for unavailable if it is not answered.
func (s *Options) withDiscovery(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info, ok := request.RequestInfoFrom(r.Context()); ok && !info.IsResourceRequest && s.ofAPI(r) {
			s.API.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// maxPath is how many bytes the path of a request for anything but an API may have.
const maxPath = 2 << 10

// withSizes rejects requests with long URLs or many headers before anything is made of their parts, whoever sends them,
// and bounds what is logged of them.
func (s *Options) withSizes(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most := maxPath
		if s.ofAPI(r) {
			most = requestsize.MaxQuery
		}
		if err := requestsize.Bound(r, most); err != nil {
			fail(w, r, err)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
