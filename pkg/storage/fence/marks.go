package fence

import (
	"cmp"
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

const (
	// markLifetime is how long a mark stays at least after it was set: longer than the evaluation of any request takes,
	// and than the watch of any replica may be behind.
	markLifetime = 24 * time.Hour
	// marksAtOnce is the number of marks that one transaction deletes; etcd allows 128 operations.
	marksAtOnce = 100
)

// PruneMarks deletes old marks until the context ends. Otherwise one would stay for each name that a namespace with
// children ever had.
func (e *Edges) PruneMarks(ctx context.Context) {
	var until int64
	var revisions []int64 // those since markLifetime, one for each hour
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		revision, err := e.pruneMarks(ctx, until)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Cannot delete old marks; trying again later")
			return
		}
		if revisions = append(revisions, revision); len(revisions) > int(markLifetime/time.Hour) {
			until, revisions = revisions[0], revisions[1:]
		}
	}, time.Hour)
}

// pruneMarks deletes the marks that were last set at a revision or before, and returns the current revision. A mark that
// is set meanwhile stays.
func (e *Edges) pruneMarks(ctx context.Context, until int64) (revision int64, err error) {
	prefix := markKey(e.prefix, "") + "/"
	for from, more := prefix, true; more; {
		page, err := e.client.Get(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithKeysOnly(),
			clientv3.WithLimit(marksAtOnce))
		if err != nil {
			return 0, fmt.Errorf("cannot list marks: %w", err)
		}
		revision = cmp.Or(revision, page.Header.Revision)
		if until == 0 || len(page.Kvs) == 0 {
			break
		}
		t := transaction{prefix: e.prefix}
		for _, kv := range page.Kvs {
			if kv.ModRevision <= until {
				t.unchanged(string(kv.Key), kv.ModRevision)
				t.delete(string(kv.Key))
			}
		}
		if len(t.then) > 0 {
			if _, err := e.client.Txn(ctx).If(t.compare...).Then(t.then...).Commit(); err != nil {
				return 0, fmt.Errorf("cannot delete marks: %w", err)
			}
		}
		from, more = string(page.Kvs[len(page.Kvs)-1].Key)+"\x00", page.More
	}
	return revision, nil
}
