package apiserver

import (
	"errors"
	"net/http"
	"sync/atomic"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hncconfiguration"
)

// followRules makes the server apply spec.rules of the configuration. It is not ready before it has read them. changed
// is called when the rules are others.
func (c CompletedConfig) followRules(generic *genericapiserver.GenericAPIServer, configuration *hncconfiguration.Storage, changed func()) error {
	var ready atomic.Pointer[func() error]
	generic.AddPostStartHookOrDie("rules", func(hook genericapiserver.PostStartHookContext) error {
		read := configuration.FollowRules(hook, changed)
		ready.Store(&read)
		return nil
	})
	return generic.AddReadyzChecks(healthz.NamedCheck("rules", func(*http.Request) error {
		if read := ready.Load(); read != nil {
			return (*read)()
		}
		return errors.New("not started yet")
	}))
}
