// Package reservations reserves use of hierarchical quotas. The use of each ResourceQuota of ours, and its sum over each
// subtree that has a quota, are records in etcd. A reservation compares and writes them in one transaction, along with
// the edges of the tree and the revision of the limits on which it is based. So the sum never exceeds a limit,
// regardless of concurrent reservations, moves and changes of limits on any number of replicas.
//
// Invariant: a ledger that is not empty contains the sum of the records of use in its subtree, of what the quotas that it
// names limit.
package reservations

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

// Records stores the records.
type Records interface {
	Read(ctx context.Context, names ...string) ([]fence.Entry, error)
	List(ctx context.Context, folders ...string) iter.Seq2[fence.Entry, error]
	Commit(ctx context.Context, t *fence.Transaction) (revision int64, err error)
}

// Tree knows the ancestors and descendants of namespaces.
type Tree interface {
	// Ancestry returns the chain of a namespace and the edges on which it is based. Unless fresh is set, it may be
	// outdated.
	Ancestry(ctx context.Context, name string, fresh bool) (chain []string, edges map[string]int64, err error)
	// Excluded reports whether a namespace is excluded from trees. It may be outdated.
	Excluded(name string) bool
	// Descendants returns the names of the namespaces below a namespace by their edges, whether these are effective or
	// not. It may be outdated.
	Descendants(name string) []string
	// Members returns the names of a namespace and its descendants. It may be outdated.
	Members(ctx context.Context, name string) ([]string, error)
	// WaitUntilFresh returns when the tree that Ancestry reads contains everything that was committed before the call.
	WaitUntilFresh(ctx context.Context) error
	// Changed returns a channel that is closed when the tree changes after this call.
	Changed() <-chan struct{}
}

// Config is the configuration of a Ledger.
type Config struct {
	Records Records
	Limits  interface {
		Get(ctx context.Context, fresh bool) (*limits.Limits, error)
	}
	Tree       Tree
	Propagated quota.Propagated
	// Namespaces and Quotas read namespaces and the ResourceQuotas of ours from caches. There may be many more
	// namespaces than a subtree contains, so they cannot be listed.
	Namespaces interface {
		Get(name string) (*corev1.Namespace, error)
	}
	// Terminating returns the names of the namespaces that are being deleted, according to the same cache.
	Terminating func() ([]string, error)
	Quotas      corelisters.ResourceQuotaLister
}

// Ledger reserves use. It is safe for concurrent use.
type Ledger struct {
	config   Config
	pending  chan *operation
	cached   recordCache
	subtrees *inflight.Limiter
	rates    *tenantrates.Rates
}

// New returns a Ledger that serves requests while Run runs.
func New(config Config) *Ledger {
	return &Ledger{
		config: config, pending: make(chan *operation), rates: tenantrates.New(perSecond, burst),
		subtrees: inflight.New("moves whose use is summed up", inflight.Limits{Total: maxSubtrees, PerUser: maxSubtreesPerUser}, 1),
	}
}

const (
	// maxBatch is the number of operations that are committed in one transaction.
	maxBatch = 16
	// maxOperations is the number of comparisons or writes of a transaction with several operations; etcd allows
	// etcdOperations.
	maxOperations, etcdOperations = 120, 128
	// maxBytes is the size of the records in a transaction to which no operation is added. One operation writes much
	// less than the 1 MiB that etcd still accepts: quota.MaxChainSize bounds the records.
	maxBytes = 512 << 10
	// maxTries bounds how often a batch is evaluated. Each lost fence means that a concurrent write succeeded.
	maxTries = 50
	// timeout is how long an operation may take. kube-apiserver waits 10 s for an admission review.
	timeout = 8 * time.Second
)

// Run processes operations until ctx is done. Those that arrive during a transaction are committed in one transaction
// after it. Operations that have to sum up records, which may be many, are tried beside that.
func (l *Ledger) Run(ctx context.Context) {
	var batch []*operation
	sums := newSumming()
	for {
		if len(batch) == 0 {
			var count <-chan time.Time
			if len(sums.running) > 0 {
				count = time.After(countInterval)
			}
			select {
			case <-ctx.Done():
				return
			case o := <-l.pending:
				batch = append(batch, o)
			case tried := <-sums.tried:
				batch = sums.end(tried)
			case <-count:
			}
		}
	drain:
		for len(batch) < maxBatch {
			select {
			case o := <-l.pending:
				batch = append(batch, o)
			case tried := <-sums.tried:
				batch = append(batch, sums.end(tried)...)
			default:
				break drain
			}
		}
		batch = l.hold(ctx, sums, batch)
		for marked := true; marked && len(batch) > 0; {
			n, before := min(len(batch), maxBatch), len(sums.waiting)
			batch = sums.take(append(l.process(ctx, batch[:n:n]), batch[n:]...))
			marked = len(sums.waiting) > before
		}
		for o := sums.next(); o != nil; o = sums.next() {
			go l.sum(ctx, sums, o, o.root)
		}
		sums.limit()
	}
}

// do performs an operation, after the deletion of the record of an earlier ResourceQuota of the name.
func (l *Ledger) do(ctx context.Context, o *operation) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := l.perform(ctx, o)
	if !errors.Is(err, errReplaced) {
		return err
	}
	chain, _, err := l.config.Tree.Ancestry(ctx, o.namespace, true)
	if err != nil {
		return err
	}
	if err := l.perform(ctx, &operation{key: o.key, uid: o.uid, gone: true, present: chain, fresh: true, yields: o.yields}); err != nil {
		return err
	}
	o.sums, o.forget, o.fresh = false, false, true
	if err = l.perform(ctx, o); errors.Is(err, errReplaced) {
		return errBusy
	}
	return err
}

// perform performs an operation.
func (l *Ledger) perform(ctx context.Context, o *operation) error {
	o.done = make(chan error, 1)
	select {
	case l.pending <- o:
	case <-ctx.Done():
		return errBusy
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		o.left.Store(true)
		return errBusy
	}
}

// noDelay is in errors about reservations. kube-apiserver's quota admission repeats a write three times at once, in one of
// the five workers that it has for all namespaces. With a delay, its client would wait and repeat each of these ten times.
const noDelay = 0

var errBusy = apierrors.NewTimeoutError("hierarchical quotas cannot be evaluated in time; try again", noDelay)

// process performs operations in one transaction, and returns those that did not fit into it, or have to sum up
// records. If none has to, those are the last ones.
func (l *Ledger) process(ctx context.Context, batch []*operation) (rest []*operation) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := time.Now()
	var failure error
	fresh := slices.ContainsFunc(batch, func(o *operation) bool { return o.fresh })
	for try := 0; try < maxTries && ctx.Err() == nil; try++ {
		var results []error
		results, failure = l.try(ctx, batch, fresh)
		if failure == nil {
			answer(batch, results, start)
			return batch[len(results):]
		}
		if fresh && !errors.Is(failure, fence.ErrLost) {
			break
		}
		fresh = true
	}
	if failure == nil {
		failure = context.Cause(ctx) // The server stops, or earlier operations have used up the time.
	}
	if len(batch) > 1 && ctx.Err() == nil && !errors.Is(failure, fence.ErrLost) {
		// etcd may reject the whole transaction because of one of the operations.
		for i, o := range batch {
			if o.sums { // Run tries it beside the others.
				rest = append(rest, o)
				continue
			}
			rest = append(rest, l.process(ctx, batch[i:i+1:i+1])...)
		}
		return rest
	}
	fail(ctx, batch, failure)
	return nil
}

// answer responds to the first operations of a batch with their results.
func answer(batch []*operation, results []error, start time.Time) {
	for i, o := range batch[:len(results)] {
		if results[i] != nil && !errors.Is(results[i], errReplaced) {
			rejections.Inc()
		}
		o.done <- results[i]
	}
	if len(results) > 0 {
		observeBatch(start, len(results))
	}
}

// fail responds to operations that could not be evaluated.
func fail(ctx context.Context, failed []*operation, failure error) {
	klog.FromContext(ctx).Error(failure, "Cannot record the use of hierarchical quotas")
	for _, o := range failed {
		o.done <- apierrors.NewServiceUnavailable("hierarchical quotas cannot be evaluated: " + failure.Error())
	}
}

// errStale rejects an evaluation on what this replica knew, because it rejects an operation or has nothing to write:
// such results are not compared with etcd by a commit.
var errStale = errors.New("the result needs fresh reads")

// try evaluates and commits operations, and returns the results of those that fit into one transaction.
func (l *Ledger) try(ctx context.Context, batch []*operation, fresh bool) ([]error, error) {
	t, results, err := l.evaluate(ctx, batch, fresh)
	var missing *missingUseError
	if errors.As(err, &missing) {
		if err = l.record(ctx, missing.uses); err == nil {
			t, results, err = l.evaluate(ctx, batch, true)
		}
	}
	if err != nil {
		return nil, err
	}
	if !fresh && (t.unverified || slices.ContainsFunc(results, func(err error) bool { return err != nil })) {
		return nil, errStale
	}
	return results, l.commit(ctx, t)
}

// record records use that was found without a record, as after a loss of records. Operations that reserve nothing have
// no records to sum up.
func (l *Ledger) record(ctx context.Context, uses []*operation) error {
	for len(uses) > 0 {
		n := min(len(uses), maxBatch)
		for _, o := range uses[:n] {
			o.done, o.fresh = make(chan error, 1), true
		}
		rest := l.process(ctx, uses[:n])
		for _, o := range uses[:n-len(rest)] {
			select {
			case err := <-o.done:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		uses = uses[n-len(rest):]
	}
	return nil
}

// commit writes a transaction and remembers the records that it wrote.
func (l *Ledger) commit(ctx context.Context, t *transaction) error {
	if len(t.write.Put)+len(t.write.Delete) == 0 {
		return nil
	}
	revision, err := l.config.Records.Commit(ctx, &t.write)
	if err != nil {
		return err
	}
	for root, bytes := range t.large {
		l.rates.Spend(time.Now(), root, bytes, longestDebt)
	}
	for name, value := range t.write.Put {
		l.cached.set(fence.Entry{Name: name, Value: value, Revision: revision})
	}
	for _, name := range t.write.Delete {
		l.cached.remove(name)
	}
	return nil
}

// read returns records, those that this replica knows from memory unless fresh is set.
func (l *Ledger) read(ctx context.Context, fresh bool, names ...string) (map[string]fence.Entry, error) {
	entries := map[string]fence.Entry{}
	var unknown []string
	for _, name := range names {
		if entry, ok := l.cached.get(name); ok && !fresh {
			entries[name] = entry
		} else {
			unknown = append(unknown, name)
		}
	}
	for some := range slices.Chunk(unknown, etcdOperations) {
		read, err := l.config.Records.Read(ctx, some...)
		if err != nil {
			return nil, err
		}
		for _, entry := range read {
			entries[entry.Name] = entry
			l.cached.set(entry)
		}
	}
	return entries, nil
}

// Reserve reserves the use that a write of the status of a ResourceQuota of ours adds. It fails with Forbidden if the
// use would exceed a limit. The write replaces old, and commits only if that is still stored.
func (l *Ledger) Reserve(ctx context.Context, old, updated *corev1.ResourceQuota) error {
	o, err := newOperation(old)
	if err != nil {
		return err
	}
	o.reserve = hnc.BoundQuantities(updated.Status.Used)
	return l.do(ctx, o)
}
