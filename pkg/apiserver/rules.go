package apiserver

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hncconfiguration"
)

// followRules makes the server apply spec.rules of the configuration, and report what it applies. It is not ready
// before it has read them. changed is called when the rules are others.
func (c CompletedConfig) followRules(generic *genericapiserver.GenericAPIServer, configuration *hncconfiguration.Storage, changed func()) error {
	var ready atomic.Pointer[func() error]
	generic.AddPostStartHookOrDie("rules", func(hook genericapiserver.PostStartHookContext) error {
		read := configuration.FollowRules(hook, changed)
		ready.Store(&read)
		go reportRules(hook, configuration)
		return nil
	})
	return generic.AddReadyzChecks(healthz.NamedCheck("rules", func(*http.Request) error {
		if read := ready.Load(); read != nil {
			return (*read)()
		}
		return errors.New("not started yet")
	}))
}

// reportRules makes the status of the configuration report the rules of this server, as soon as the store can be
// written.
func reportRules(ctx context.Context, s *hncconfiguration.Storage) {
	_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		err := s.ReportRules(ctx)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Cannot report the rules in force; trying again")
		}
		return err == nil, nil
	})
}
