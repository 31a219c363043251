package serving

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/config"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// LeaderElection returns the defaults of a process, whose lease has its name.
func LeaderElection(name string) config.LeaderElectionConfiguration {
	return config.LeaderElectionConfiguration{
		LeaderElect:       true,
		LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
		RenewDeadline:     metav1.Duration{Duration: 10 * time.Second},
		RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
		ResourceLock:      resourcelock.LeasesResourceLock,
		ResourceName:      name,
		ResourceNamespace: hnc.SystemNamespace,
	}
}

// ValidateLeaderElection returns the errors in the flags.
func ValidateLeaderElection(l *config.LeaderElectionConfiguration) field.ErrorList {
	if !l.LeaderElect || l.LeaseDuration.Duration > l.RenewDeadline.Duration {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("leader-elect-lease-duration"), l.LeaseDuration.Duration.String(),
		"must be longer than leader-elect-renew-deadline")}
}

// Lead runs f while this replica holds the lease, and releases the lease once f has returned. It stores the elector,
// which knows the leader, and keeps the term, if it is not nil.
func Lead(ctx context.Context, base *rest.Config, election *config.LeaderElectionConfiguration, term *Term, health *leaderelection.HealthzAdaptor,
	known *atomic.Pointer[leaderelection.LeaderElector], f func(context.Context),
) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	// The lease has its own connection, so that it does not wait behind thousands of writes.
	base = rest.CopyConfig(base)
	base.Timeout = election.RenewDeadline.Duration / 2
	client, err := kubernetes.NewForConfig(base)
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(election.ResourceLock, election.ResourceNamespace, election.ResourceName,
		client.CoreV1(), client.CoordinationV1(),
		// Without events: a restart must write nothing, and the lease itself shows who leads.
		resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()})
	if err != nil {
		return err
	}
	if term != nil {
		lock = term.lock(lock)
	}
	started, finished := make(chan struct{}), make(chan struct{})
	lock = heldLock{lock, finished}
	// The election outlives the context until f ends, so that two replicas never write at the same time.
	electing, stopElecting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopElecting()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		Name:            election.ResourceName,
		LeaseDuration:   election.LeaseDuration.Duration,
		RenewDeadline:   election.RenewDeadline.Duration,
		RetryPeriod:     election.RetryPeriod.Duration,
		WatchDog:        health,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				close(started)
				defer close(finished)
				working, stop := context.WithCancel(leading)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				f(working)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	known.Store(elector)
	go func() {
		<-ctx.Done()
		select {
		case <-started:
			<-finished
		default:
		}
		stopElecting()
	}()
	elector.Run(electing)
	if ctx.Err() == nil {
		select {
		case <-finished:
		case <-time.After(lossGrace):
		}
		return errors.New("lost the lease")
	}
	return nil
}

// lossGrace is how long what f does after its context is done may take when the lease is lost.
const lossGrace = 3 * time.Second

// heldLock keeps the lease until the work is finished. The elector releases it also when it could not be renewed in
// time: then writes may still be on their way, and others have to wait until the lease has expired.
type heldLock struct {
	resourcelock.Interface
	finished <-chan struct{}
}

// Update implements resourcelock.Interface.
func (l heldLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		select {
		case <-l.finished:
		default:
			return errors.New("the lease is not released, because writes may be in flight; it expires")
		}
	}
	return l.Interface.Update(ctx, record)
}
