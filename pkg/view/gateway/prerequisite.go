package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// probed is a user that nobody is. The gateway acts as this user to learn whether kube-apiserver lets it.
const probed = "hns-gateway:probe"

// Prerequisite checks that kube-apiserver has constrained impersonation, and that the gateway has no other.
type Prerequisite struct {
	own, impersonating kubernetes.Interface
	failure            atomic.Pointer[error]
}

// NewPrerequisite returns one that is not met until Run has checked it. The configuration is that of the gateway
// itself.
func NewPrerequisite(config *rest.Config) (*Prerequisite, error) {
	own, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Impersonate.UserName = probed
	impersonating, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	p := &Prerequisite{own: own, impersonating: impersonating}
	unchecked := errors.New("hns-gateway has not asked kube-apiserver yet whether it has constrained impersonation")
	p.failure.Store(&unchecked)
	return p, nil
}

// Err returns why the gateway cannot serve anything, nil if it can.
func (p *Prerequisite) Err() error { return *p.failure.Load() }

// checkInterval is the time between two checks.
const checkInterval = 10 * time.Second

// Run checks until the context is done. What it cannot find out, because kube-apiserver is unavailable, stays as it
// was.
func (p *Prerequisite) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, checkInterval)
		defer cancel()
		found, err := p.check(ctx)
		if err != nil {
			logger.Error(err, "Cannot find out whether kube-apiserver has constrained impersonation; trying again")
			return
		}
		before := p.Err()
		if found == nil && before != nil {
			logger.Info("kube-apiserver has constrained impersonation; serving views")
		}
		if found != nil && (before == nil || before.Error() != found.Error()) {
			logger.Error(found, "Serving no views")
		}
		p.failure.Store(&found)
	}, checkInterval)
}

// check returns in found why the gateway cannot serve anything.
func (p *Prerequisite) check(ctx context.Context) (found, err error) {
	for _, resource := range []string{"users", "serviceaccounts"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: resource, Name: probed},
		}}
		answer, err := p.own.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if answer.Status.Allowed {
			return fmt.Errorf("hns-gateway has the verb impersonate on %s, with which it could act as anybody everywhere; remove that permission", resource), nil
		}
	}
	self, err := p.impersonating.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("kube-apiserver does not let hns-gateway act as other users: it must have version 1.36 or later with the feature gate "+
			"ConstrainedImpersonation, and hns-gateway its ClusterRole: %w", err), nil
	case err != nil:
		return nil, err
	case self.Status.UserInfo.Username != probed:
		return fmt.Errorf("kube-apiserver takes hns-gateway for %q when it acts as another user", self.Status.UserInfo.Username), nil
	}
	return nil, nil
}
