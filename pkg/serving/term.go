package serving

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/config"
)

// ErrNotLeading is the error of writes by a replica that does not hold the lease, or may have lost it.
var ErrNotLeading = errors.New("this replica does not hold the lease, and must not write")

// Term is the time for which this replica may write without another renewal of its lease. Leader election ends the work
// of a replica that has lost its lease as soon as the process notices. A process that was suspended notices late: what
// it had begun would go on meanwhile. A Term is checked right before each write. Its methods may be called
// concurrently.
type Term struct {
	// length counts from when the last renewal was sent, so that it ends before other replicas may take over.
	length time.Duration
	// margin is how much earlier.
	margin time.Duration
	now    func() instant
	// renewed is nil for a replica that does not lead.
	renewed atomic.Pointer[instant]
}

// instant is a time by two clocks. The monotonic one stands still while some machines are suspended, and the other one
// can be set.
type instant struct {
	monotonic time.Duration
	wall      time.Time
}

// NewTerm returns the term of a leader that renews its lease as configured. It begins with the lease.
func NewTerm(election *config.LeaderElectionConfiguration) *Term {
	start := time.Now()
	return &Term{
		length: election.RenewDeadline.Duration,
		margin: election.LeaseDuration.Duration - election.RenewDeadline.Duration,
		now:    func() instant { return instant{monotonic: time.Since(start), wall: time.Now().Round(0)} },
	}
}

// Err returns ErrNotLeading unless the term goes on.
func (t *Term) Err() error {
	renewed := t.renewed.Load()
	if renewed == nil {
		return ErrNotLeading
	}
	now := t.now()
	if max(now.monotonic-renewed.monotonic, now.wall.Sub(renewed.wall)) >= t.length {
		return ErrNotLeading
	}
	return nil
}

// lock returns the lock with renewals recorded.
func (t *Term) lock(lock resourcelock.Interface) resourcelock.Interface {
	return termLock{Interface: lock, term: t}
}

type termLock struct {
	resourcelock.Interface
	term *Term
}

func (l termLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error { return l.Interface.Create(ctx, record) })
}

func (l termLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error { return l.Interface.Update(ctx, record) })
}

func (l termLock) write(record resourcelock.LeaderElectionRecord, write func() error) error {
	if record.HolderIdentity != l.Identity() {
		// The lease is released: another replica may hold it before the response is here.
		l.term.renewed.Store(nil)
		return write()
	}
	sent := l.term.now()
	err := write()
	if err == nil {
		l.term.renewed.Store(&sent)
	}
	return err
}
