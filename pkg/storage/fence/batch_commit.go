package fence

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// transaction collects the writes of one etcd transaction, each key once.
type transaction struct {
	prefix string
	// committed holds the revisions of edges that earlier transactions of the batch have written.
	committed map[string]int64
	// committedRecords holds those of records.
	committedRecords map[string]int64
	// records are the names of the records that are written.
	records []string

	// compared holds the keys that must be unchanged, and their revisions.
	compared map[string]int64
	written  map[string]bool
	then     []clientv3.Op
	// edges are the names of the written edges.
	edges []string
}

func (b *Batch) newTransaction() *transaction {
	return &transaction{prefix: b.client.prefix, committed: b.committed, committedRecords: b.committedRecords, compared: map[string]int64{}, written: map[string]bool{}}
}

// add adds a write after those that are in the transaction. Watches deliver the events of a transaction in this order.
func (t *transaction) add(p *parked) {
	t.unchanged(p.key, p.expected)
	guard := p.guard
	if guard == nil {
		guard = &Guard{}
	}
	for name, revision := range guard.Unchanged {
		// The edges that the batch itself has written are as the writes after them expect.
		if own, ok := t.committed[name]; ok {
			revision = own
		}
		t.unchanged(edgeKey(t.prefix, name), revision)
	}
	for name, revision := range guard.Unmarked {
		t.unchanged(markKey(t.prefix, name), revision)
	}
	t.put(p.key, string(p.value), clientv3.WithLease(p.options.LeaseID))
	for name, value := range guard.Put {
		t.put(edgeKey(t.prefix, name), string(value))
		t.edges = append(t.edges, name)
	}
	for _, name := range guard.Delete {
		if key := edgeKey(t.prefix, name); !t.written[key] {
			t.written[key] = true
			t.then = append(t.then, clientv3.OpDelete(key))
			t.edges = append(t.edges, name)
		}
	}
	for _, name := range guard.Mark {
		t.put(markKey(t.prefix, name), "")
	}
	for name, revision := range guard.UnchangedRecords {
		if own, ok := t.committedRecords[name]; ok {
			revision = own
		}
		t.unchanged(recordKey(t.prefix, name), revision)
	}
	for name, value := range guard.PutRecords {
		t.put(recordKey(t.prefix, name), string(value))
		t.records = append(t.records, name)
	}
}

func (t *transaction) unchanged(key string, revision int64) {
	known, ok := t.compared[key]
	// Of two different revisions, the older one loses the fence.
	if !ok || revision < known {
		t.compared[key] = revision
	}
}

func (t *transaction) comparisons() []clientv3.Cmp {
	compare := make([]clientv3.Cmp, 0, len(t.compared))
	for key, revision := range t.compared {
		compare = append(compare, clientv3.Compare(clientv3.ModRevision(key), "=", revision))
	}
	return compare
}

func (t *transaction) put(key, value string, options ...clientv3.OpOption) {
	if !t.written[key] {
		t.written[key] = true
		t.then = append(t.then, clientv3.OpPut(key, value, options...))
	}
}

// Split divides waiting writes into transactions, which keep their order: one for each object. A client of the API continues a watch after the
// revision of the last event that it has received, so objects of one revision would be lost to it if its watch ended between them.
func (b *Batch) Split(writes []*Write) [][]*Write {
	all := make([][]*Write, 0, len(writes))
	for _, w := range writes {
		all = append(all, []*Write{w})
	}
	return all
}

// Commit commits waiting writes in one transaction, and returns when their requests have ended. It fails with ErrLost if one of their objects, edges
// or marks has changed: then nothing was written, and the batch can only be abandoned.
func (b *Batch) Commit(ctx context.Context, writes []*Write) error {
	t := b.newTransaction()
	for _, w := range writes {
		t.add(w.parked)
	}
	response, err := b.client.kv.Txn(ctx).If(t.comparisons()...).Then(t.then...).Commit()
	if err != nil {
		return fmt.Errorf("cannot commit %d writes: %w", len(writes), err)
	}
	if !response.Succeeded {
		b.client.onLost()
		return ErrLost
	}
	for _, name := range t.edges {
		b.committed[name] = response.Header.Revision
	}
	for _, name := range t.records {
		b.committedRecords[name] = response.Header.Revision
	}
	for _, w := range writes {
		w.end(outcome{response: kubernetes.PutResponse{Succeeded: true, Revision: response.Header.Revision}})
	}
	for _, w := range writes {
		w.Done()
	}
	return nil
}
