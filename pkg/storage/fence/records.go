package fence

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Records are values beside the edges, that writes of objects may compare and write through their Guard, and that can
// be written without an object. Their names may contain slashes. The package does not interpret them.
type Records struct {
	client *clientv3.Client
	prefix string
	onLost func()
}

// Records returns the records that the guarded writes of this client compare and write.
func (c *Client) Records() *Records {
	return &Records{client: c.client.Client, prefix: c.config.Prefix, onLost: lostFences.Inc}
}

// Transaction is a write of records.
type Transaction struct {
	// Edges holds names of edges and the revisions of their last change, 0 for an edge that does not exist, which must
	// be unchanged.
	Edges map[string]int64
	// Unchanged holds names of records and the revisions of their last change, which must be unchanged.
	Unchanged map[string]int64
	// Put holds records that are written.
	Put map[string][]byte
	// Delete holds the names of records that are deleted.
	Delete []string
}

// Operations returns the number of comparisons or writes, whichever is greater. etcd limits both, by default to 128.
func (t *Transaction) Operations() int {
	return max(len(t.Edges)+len(t.Unchanged), len(t.Put)+len(t.Delete))
}

// Commit writes a transaction and returns its revision. It fails with ErrLost if an edge or record has changed.
func (r *Records) Commit(ctx context.Context, t *Transaction) (revision int64, err error) {
	transaction := transaction{prefix: r.prefix}
	transaction.addGuard(&Guard{Unchanged: t.Edges, UnchangedRecords: t.Unchanged, PutRecords: t.Put, DeleteRecords: t.Delete})
	response, err := r.client.Txn(ctx).If(transaction.compare...).Then(transaction.then...).Commit()
	if err != nil {
		return 0, fmt.Errorf("cannot write records: %w", err)
	}
	if !response.Succeeded {
		r.onLost()
		return 0, ErrLost
	}
	return response.Header.Revision, nil
}

// Read returns the current records by a quorum read, all at one revision and in the order of names. At most 128 can be
// read.
func (r *Records) Read(ctx context.Context, names ...string) ([]Entry, error) {
	entries, err := read(ctx, r.client, names, func(name string) string { return recordKey(r.prefix, name) })
	if err != nil {
		return nil, fmt.Errorf("cannot read records: %w", err)
	}
	return entries, nil
}

// List returns the records below a folder by a quorum read, in the order of their names.
func (r *Records) List(ctx context.Context, folder string) ([]Entry, error) {
	prefix := recordKey(r.prefix, folder) + "/"
	response, err := r.client.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("cannot list records: %w", err)
	}
	entries := make([]Entry, 0, len(response.Kvs))
	for _, kv := range response.Kvs {
		name := strings.TrimPrefix(string(kv.Key), recordKey(r.prefix, "")+"/")
		entries = append(entries, Entry{Name: name, Value: kv.Value, Revision: kv.ModRevision})
	}
	return entries, nil
}
