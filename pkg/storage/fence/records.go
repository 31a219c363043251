package fence

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
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

const (
	// pageSize is the number of records that one read of List returns. Their number and size are up to tenants.
	pageSize = 64
	// foldersAtOnce is the number of folders that one read of List contains; etcd allows 128 operations.
	foldersAtOnce = 32
)

// keyRange is a range of keys of which none has been read yet.
type keyRange struct{ begin, end string }

// List returns the records below folders by quorum reads, page by page and all at one revision. Those of one folder
// are in the order of their names. It ends with the first error.
func (r *Records) List(ctx context.Context, folders ...string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var revision int64
		for some := range slices.Chunk(folders, foldersAtOnce) {
			unread := make([]keyRange, len(some))
			for i, folder := range some {
				prefix := recordKey(r.prefix, folder) + "/"
				unread[i] = keyRange{prefix, clientv3.GetPrefixRangeEnd(prefix)}
			}
			for len(unread) > 0 {
				page, err := r.page(ctx, unread, revision)
				if err != nil {
					yield(Entry{}, fmt.Errorf("cannot list records: %w", err))
					return
				}
				revision = cmp.Or(revision, page.Header.Revision)
				var rest []keyRange
				for i, of := range page.Responses {
					read := of.GetResponseRange()
					for _, kv := range read.Kvs {
						name := strings.TrimPrefix(string(kv.Key), recordKey(r.prefix, "")+"/")
						if !yield(Entry{Name: name, Value: kv.Value, Revision: kv.ModRevision}, nil) {
							return
						}
					}
					if read.More {
						rest = append(rest, keyRange{string(read.Kvs[len(read.Kvs)-1].Key) + "\x00", unread[i].end})
					}
				}
				unread = rest
			}
		}
	}
}

// page reads the first keys of ranges at a revision, 0 for the current one.
func (r *Records) page(ctx context.Context, unread []keyRange, revision int64) (*clientv3.TxnResponse, error) {
	gets := make([]clientv3.Op, len(unread))
	for i, of := range unread {
		gets[i] = clientv3.OpGet(of.begin, clientv3.WithRange(of.end), clientv3.WithLimit(int64(pageSize/len(unread))), clientv3.WithRev(revision))
	}
	return r.client.Txn(ctx).Then(gets...).Commit()
}
