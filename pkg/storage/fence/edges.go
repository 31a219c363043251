package fence

import (
	"context"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/klog/v2"
)

// Entry is a stored edge or record.
type Entry struct {
	// Name is the name of the edge or record.
	Name string
	// Value is the current value, nil if it does not exist.
	Value []byte
	// Revision is the revision of the last change, 0 if it does not exist.
	Revision int64
}

// Edges reads the edges of one etcd prefix. Only one ListAndWatch may run at a time.
//
// It is not a reflector of client-go: edges are not API objects, and WaitUntilFresh needs the progress of the watch.
type Edges struct {
	client   *clientv3.Client
	prefix   string
	progress *progress
}

// Read returns the current edges by a quorum read, all at one revision and in the order of names.
func (e *Edges) Read(ctx context.Context, names ...string) ([]Entry, error) {
	entries, err := read(ctx, e.client, names, func(name string) string { return edgeKey(e.prefix, name) })
	if err != nil {
		return nil, fmt.Errorf("cannot read the tree: %w", err)
	}
	return entries, nil
}

// read returns what is stored under keys, all at one revision and in the order of names.
func read(ctx context.Context, client clientv3.KV, names []string, key func(name string) string) ([]Entry, error) {
	gets := make([]clientv3.Op, len(names))
	for i, name := range names {
		gets[i] = clientv3.OpGet(key(name))
	}
	response, err := client.Txn(ctx).Then(gets...).Commit()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(names))
	for i, name := range names {
		entries[i].Name = name
		if kvs := response.Responses[i].GetResponseRange().Kvs; len(kvs) == 1 {
			entries[i].Value, entries[i].Revision = kvs[0].Value, kvs[0].ModRevision
		}
	}
	return entries, nil
}

// Mark returns the revision of the last write that marked the name by a quorum read, 0 if none did within a day:
// PruneMarks deletes older marks.
func (e *Edges) Mark(ctx context.Context, name string) (int64, error) {
	response, err := e.client.Get(ctx, markKey(e.prefix, name))
	if err != nil {
		return 0, fmt.Errorf("cannot read the tree: %w", err)
	}
	if len(response.Kvs) == 0 {
		return 0, nil
	}
	return response.Kvs[0].ModRevision, nil
}

// ListAndWatch calls replace with all edges and then update with each change, in the order of revisions, until ctx is
// done. It calls replace again after the watch has failed. A deleted edge has no value and no revision.
func (e *Edges) ListAndWatch(ctx context.Context, replace func([]Entry), update func(Entry)) {
	for ctx.Err() == nil {
		if err := e.listAndWatch(ctx, replace, update); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "The watch of edges failed; listing again")
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

// stream returns the context of the watch and of the requests for its progress.
func (e *Edges) stream(ctx context.Context) context.Context {
	return clientv3.WithRequireLeader(ownStream(ctx, "edges"))
}

func (e *Edges) listAndWatch(ctx context.Context, replace func([]Entry), update func(Entry)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prefix := edgesPrefix(e.prefix)
	list, err := e.client.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	entries := make([]Entry, 0, len(list.Kvs))
	for _, kv := range list.Kvs {
		entries = append(entries, Entry{Name: strings.TrimPrefix(string(kv.Key), prefix), Value: kv.Value, Revision: kv.ModRevision})
	}
	replace(entries)
	e.progress.set(list.Header.Revision)

	watch := e.client.Watch(e.stream(ctx), prefix, clientv3.WithPrefix(), clientv3.WithRev(list.Header.Revision+1), clientv3.WithProgressNotify())
	for response := range watch {
		if err := response.Err(); err != nil {
			return err
		}
		for _, event := range response.Events {
			entry := Entry{Name: strings.TrimPrefix(string(event.Kv.Key), prefix)}
			if event.Type == clientv3.EventTypePut {
				entry.Value, entry.Revision = event.Kv.Value, event.Kv.ModRevision
			}
			update(entry)
		}
		if n := len(response.Events); n > 0 {
			e.progress.set(response.Events[n-1].Kv.ModRevision)
		} else if response.IsProgressNotify() {
			e.progress.answer(response.Header.Revision)
		}
	}
	return fmt.Errorf("the watch of edges ended")
}
