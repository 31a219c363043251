package fence

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/util/sets"
)

// maxParallel bounds how many writes of a batch are committed at the same time.
const maxParallel = 16

// CommitAll commits waiting writes, and returns when their requests have ended. It calls committed for each, in their order. Writes that follow one
// another, and of which none compares what another one writes, are committed at the same time: what each depends on is in its guard, so that they may
// end in any order. After an error, later writes are not committed, and the batch can only be abandoned.
func (b *Batch) CommitAll(ctx context.Context, writes []*Write, committed func(*Write)) error {
	relied := comparedRecords(writes)
	for len(writes) > 0 {
		n := independent(writes)
		errs := make([]error, n)
		var commits sync.WaitGroup
		for i, w := range writes[:n] {
			commits.Go(func() { errs[i] = b.commit(ctx, w, relied) })
		}
		commits.Wait()
		for i, w := range writes[:n] {
			if errs[i] == nil {
				committed(w)
			}
		}
		if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
			return errs[i]
		}
		writes = writes[n:]
	}
	return nil
}

// independent returns how many of the first writes can be committed at the same time.
func independent(writes []*Write) int {
	compared, written := sets.New[string](), sets.New[string]()
	for n, w := range writes[:min(len(writes), maxParallel)] {
		if w.parked.guard == nil {
			continue
		}
		compares, puts := w.parked.guard.keys()
		if written.HasAny(compares...) || compared.HasAny(puts...) {
			return n
		}
		compared.Insert(compares...)
		written.Insert(puts...)
	}
	return min(len(writes), maxParallel)
}

// keys returns the keys that a guard compares, and those that it writes, below no prefix. The writes of an edge or a record keep their order, as if each
// compared it; those of a mark need none.
func (g *Guard) keys() (compared, written []string) {
	ordered := slices.Concat(
		keysOf(edgeKey, maps.Keys(g.Put)), keysOf(edgeKey, slices.Values(g.Delete)),
		keysOf(recordKey, maps.Keys(g.PutRecords)), keysOf(recordKey, slices.Values(g.DeleteRecords)))
	compared = slices.Concat(ordered,
		keysOf(edgeKey, maps.Keys(g.Unchanged)), keysOf(markKey, maps.Keys(g.Unmarked)), keysOf(recordKey, maps.Keys(g.UnchangedRecords)))
	return compared, slices.Concat(ordered, keysOf(markKey, slices.Values(g.Mark)))
}

func keysOf(key func(prefix, name string) string, names iter.Seq[string]) []string {
	var keys []string
	for name := range names {
		keys = append(keys, key("", name))
	}
	return keys
}

// comparedRecords returns the lowest revision at which writes compare each record.
func comparedRecords(writes []*Write) map[string]int64 {
	lowest := map[string]int64{}
	for _, w := range writes {
		if w.parked.guard == nil {
			continue
		}
		for name, revision := range w.parked.guard.UnchangedRecords {
			if known, ok := lowest[name]; !ok || revision < known {
				lowest[name] = revision
			}
		}
	}
	return lowest
}

// withWritten returns the records that a guard compares and, of those that it writes without comparing them, the ones on which a write of the batch relies:
// a later write expects what this one leaves, and would not notice a change by others before it.
func withWritten(guard *Guard, relied map[string]int64) map[string]int64 {
	compared := maps.Clone(guard.UnchangedRecords)
	for _, name := range slices.AppendSeq(slices.Clone(guard.DeleteRecords), maps.Keys(guard.PutRecords)) {
		revision, ok := relied[name]
		if _, known := compared[name]; ok && !known {
			if compared == nil {
				compared = map[string]int64{}
			}
			compared[name] = revision
		}
	}
	return compared
}

// commit commits a waiting write, and returns when its request has ended. It fails with ErrLost if the object, or what the guard of the write compares,
// has changed other than by this batch: then nothing was written. The same applies to records that the write changes and on which the batch relies.
//
// Each object has a transaction of its own. A client of the API continues a watch after the revision of the last event that it has received, so objects
// of one revision would be lost to it if its watch ended between them.
func (b *Batch) commit(ctx context.Context, w *Write, relied map[string]int64) error {
	t := transaction{prefix: b.client.prefix}
	t.unchanged(w.parked.key, w.parked.expected)
	t.put(w.parked.key, w.parked.value, clientv3.WithLease(w.parked.options.LeaseID))
	var guard Guard
	if w.parked.guard != nil {
		guard = *w.parked.guard
	}
	b.mu.Lock()
	guard.Unchanged = updated(guard.Unchanged, b.edges)
	guard.UnchangedRecords = updated(withWritten(&guard, relied), b.records)
	b.mu.Unlock()
	t.addGuard(&guard)
	response, err := b.client.kv.Txn(ctx).If(t.compare...).Then(t.then...).Commit()
	if err != nil {
		// It may have been made.
		w.end(outcome{err: err})
		return fmt.Errorf("cannot commit the write of %s: %w", w.parked.key, err)
	}
	if !response.Succeeded {
		b.client.onLost()
		return ErrLost
	}
	revision := response.Header.Revision
	b.mu.Lock()
	for name := range guard.Put {
		b.edges[name] = revision
	}
	for _, name := range guard.Delete {
		b.edges[name] = 0
	}
	for name := range guard.PutRecords {
		b.records[name] = revision
	}
	for _, name := range guard.DeleteRecords {
		b.records[name] = 0
	}
	b.mu.Unlock()
	w.end(outcome{response: kubernetes.PutResponse{Succeeded: true, Revision: revision}})
	w.Done()
	return nil
}

// updated returns the revisions of unchanged after the earlier writes of a batch, which the writes after them expect.
func updated(unchanged, committed map[string]int64) map[string]int64 {
	result := maps.Clone(unchanged)
	for name := range result {
		if revision, ok := committed[name]; ok {
			result[name] = revision
		}
	}
	return result
}
